import type { Timers } from '../../drivers/driver.ts'

/** The delay before queues without a free process are tried again. */
const RETRY_MS = 1_000

export interface LeftQueuesDeps {
  timers: Pick<Timers, 'sleep'>
  principalOf(id: string): Promise<string | undefined>
  /** Returns false if there is no process for this session now. */
  start(id: string): Promise<boolean>
}

/** Starts the queues of recovered sessions, as agent processes become free. */
export class LeftQueues {
  readonly #deps: LeftQueuesDeps
  #ids: string[] = []

  constructor(deps: LeftQueuesDeps) {
    this.#deps = deps
  }

  replace(ids: string[]): void {
    this.#ids = ids
  }

  add(id: string): void {
    this.#ids.push(id)
  }

  /** A principal whose processes are busy does not delay the queues of others. */
  async start(): Promise<void> {
    let left = this.#ids.splice(0)
    const never = new AbortController().signal
    while (left.length > 0) {
      const refused: string[] = []
      const waiting = new Set<string | undefined>()
      for (const id of left) {
        const principal = await this.#deps.principalOf(id)
        if (!waiting.has(principal) && (await this.#deps.start(id))) continue
        waiting.add(principal)
        refused.push(id)
      }
      left = refused
      if (left.length > 0) await this.#deps.timers.sleep(RETRY_MS, never)
    }
  }
}
