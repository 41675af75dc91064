import type { TurnCompleted } from '../model/events/turn.ts'
import type { MainstemError } from '../model/index.ts'

interface Waiting {
  resolve(completed: TurnCompleted): void
  reject(error: MainstemError): void
}

/** Who waits for which turn's end. */
export class TurnWaiters {
  readonly #done = new Map<number, TurnCompleted>()
  readonly #waiting = new Map<number, Waiting[]>()
  #failure: MainstemError | undefined

  wait(turn: number): Promise<TurnCompleted> {
    const done = this.#done.get(turn)
    if (done) return Promise.resolve(done)
    if (this.#failure) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(turn) ?? []
      waiting.push({ resolve, reject })
      this.#waiting.set(turn, waiting)
    })
  }

  settle(completed: TurnCompleted): void {
    this.#done.set(completed.turn, completed)
    for (const waiting of this.#waiting.get(completed.turn) ?? []) waiting.resolve(completed)
    this.#waiting.delete(completed.turn)
  }

  /** Nothing more can be promised: whoever waits is told. */
  fail(error: MainstemError): void {
    this.#failure = error
    for (const waiting of this.#waiting.values()) for (const one of waiting) one.reject(error)
    this.#waiting.clear()
  }
}
