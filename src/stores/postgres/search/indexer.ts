/// <reference lib="esnext.disposable" preserve="true" />
import { IndexSchedule, stepWhileUseful } from '../../search.ts'
import type { WordIndex } from './word-index.ts'

/** Another server is indexing, or a step has failed: this one looks again later. */
const LATER_MS = 5_000

/** Extends the index in the background after commits of this server. Neither commits nor streams wait for it. */
export class WordIndexer implements AsyncDisposable {
  readonly #index: Pick<WordIndex, 'step'>
  readonly #closed = new AbortController()
  readonly #schedule = new IndexSchedule(() => this.#start())
  #timer: NodeJS.Timeout | undefined
  #working: Promise<void> | undefined

  constructor(index: Pick<WordIndex, 'step'>) {
    this.#index = index
  }

  /** Rows were added to the logs. */
  changed(): void {
    this.#schedule.changed()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort()
    this.#schedule[Symbol.dispose]()
    clearTimeout(this.#timer)
    await this.#working
  }

  #start(): void {
    if (this.#closed.signal.aborted) return
    // Commits during the last step may be missed by it.
    if (this.#working) this.#schedule.changed()
    else this.#working = this.#work()
  }

  async #work(): Promise<void> {
    clearTimeout(this.#timer)
    // A failed search reports the reason. Here, the next attempt is enough.
    const last = await stepWhileUseful(() => this.#index.step(), this.#closed.signal).catch(
      () => 'lost' as const,
    )
    this.#working = undefined
    if (last === 'lost') this.#timer = setTimeout(() => this.#start(), LATER_MS).unref()
  }
}
