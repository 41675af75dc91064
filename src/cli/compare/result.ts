import type { TurnCompleted } from '../../model/events/turn.ts'
import type { Entry } from '../../model/index.ts'
import { FinalAnswer } from '../final-answer.ts'

/** The result of a turn: a fold over its entries. */
export class Result {
  readonly #answer = new FinalAnswer()
  /** The files that the agent reported as changed. */
  readonly files = new Set<string>()
  end: TurnCompleted | undefined

  take(entry: Entry): void {
    const { event } = entry
    this.#answer.take(entry)
    if (event.type === 'file.changed') this.files.add(event.path)
    if (event.type === 'turn.completed') this.end = event
  }

  /** With a line break at its end, if there is one. */
  get answer(): string {
    return this.#answer.line
  }
}
