/// <reference lib="esnext.disposable" preserve="true" />
import { setTimeout as sleep } from 'node:timers/promises'
import type { Step, WordIndex } from './word-index.ts'

/** Commits are gathered this long, and a store is open this long before the first step. */
const GATHER_MS = 1_000
/** Another server is indexing, or a step has failed: this one looks again later. */
const LATER_MS = 5_000

/** Extends the index in the background after commits of this server. Neither commits nor streams wait for it. */
export class Indexer implements AsyncDisposable {
  readonly #index: Pick<WordIndex, 'step'>
  readonly #closed = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined

  constructor(index: Pick<WordIndex, 'step'>) {
    this.#index = index
  }

  /** Rows were added to the logs. */
  changed(): void {
    this.#after(GATHER_MS)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort()
    clearTimeout(this.#timer)
    await this.#working
  }

  #after(ms: number): void {
    if (this.#timer || this.#working || this.#closed.signal.aborted) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#working = this.#work()
    }, ms).unref()
  }

  async #work(): Promise<void> {
    // A failed search reports the reason. Here, the next attempt is enough.
    const last = await this.#stepWhileUseful().catch(() => 'lost' as const)
    this.#working = undefined
    if (last === 'lost') this.#after(LATER_MS)
  }

  async #stepWhileUseful(): Promise<Step> {
    const { signal } = this.#closed
    for (;;) {
      const began = performance.now()
      const step = await this.#index.step()
      if (signal.aborted || step === 'nothing' || step === 'lost') return step
      // Old entries can wait: a pause as long as the work leaves half of the time to others.
      const pauseMs = step === 'backfill' ? performance.now() - began : 0
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
}
