import type { TurnCompleted } from '../../model/events/turn.ts'
import { MainstemError } from '../../model/index.ts'
import type { SessionState, Store } from '../../stores/store.ts'
import { settledTurn } from './settled-turn.ts'

interface TurnWaiter {
  resolve(completed: TurnCompleted): void
  reject(error: MainstemError): void
}

/** Callers that wait for the end of a turn. The result of an earlier turn is read from the log. */
export class TurnWaiters {
  readonly #store: Store
  readonly #session: string
  readonly #waiting = new Map<number, TurnWaiter[]>()
  /** Every turn up to this one is settled, and these beyond it. */
  #settledThrough: number
  readonly #settledBeyond = new Set<number>()
  #failure: MainstemError | undefined

  constructor(store: Store, { id, turns, queue, openTurn }: SessionState) {
    this.#store = store
    this.#session = id
    const open = new Set([...queue.map(({ turn }) => turn), ...(openTurn === undefined ? [] : [openTurn])])
    this.#settledThrough = Math.min(turns + 1, ...open) - 1
    for (let turn = this.#settledThrough + 1; turn <= turns; turn++) {
      if (!open.has(turn)) this.#settledBeyond.add(turn)
    }
  }

  wait(turn: number): Promise<TurnCompleted> {
    if (this.#isSettled(turn)) return this.#read(turn)
    if (this.#failure) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(turn) ?? []
      waiting.push({ resolve, reject })
      this.#waiting.set(turn, waiting)
    })
  }

  /** Waits for the end without its result, so that a late caller reads no log. */
  async ended(turn: number): Promise<void> {
    if (!this.#isSettled(turn)) await this.wait(turn)
  }

  #isSettled(turn: number): boolean {
    return turn <= this.#settledThrough || this.#settledBeyond.has(turn)
  }

  /** Call after the event is committed. */
  settle(completed: TurnCompleted): void {
    this.#settledBeyond.add(completed.turn)
    while (this.#settledBeyond.delete(this.#settledThrough + 1)) this.#settledThrough++
    for (const waiting of this.#waiting.get(completed.turn) ?? []) waiting.resolve(completed)
    this.#waiting.delete(completed.turn)
  }

  /** Rejects every caller that waits, and those that come later for a turn without an end. */
  fail(error: MainstemError): void {
    this.#failure = error
    for (const waiting of this.#waiting.values()) for (const one of waiting) one.reject(error)
    this.#waiting.clear()
  }

  async #read(turn: number): Promise<TurnCompleted> {
    const completed = await settledTurn(this.#store, this.#session, turn)
    if (!completed) throw new MainstemError('not_found', `the end of turn ${turn} is no longer kept`)
    return completed
  }
}
