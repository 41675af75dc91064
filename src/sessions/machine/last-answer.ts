import type { TurnCompleted } from '../../model/events/turn.ts'

/** Keeps the last message of the main thread, as the result for agents that do not repeat it at the end. */
export class LastAnswer {
  #text = ''
  #turn: number | undefined

  keep(text: string, turn: number | undefined): void {
    this.#text = text
    this.#turn = turn
  }

  fill(completed: TurnCompleted): TurnCompleted {
    if (completed.result !== undefined || this.#turn !== completed.turn) return completed
    return { ...completed, result: this.#text }
  }
}
