/// <reference lib="esnext.disposable" preserve="true" />

/** Without a commit for this long, the index may use the processor. */
const QUIET_MS = 1_000
/** New entries wait no longer than this for their index, also while commits keep coming. */
const LATEST_MS = 60_000

/** Starts the search index when commits pause, so that a burst does not wait for it. */
export class IndexSchedule implements Disposable {
  readonly #run: () => void
  #timer: NodeJS.Timeout | undefined
  #first = 0
  #last = 0

  constructor(run: () => void) {
    this.#run = run
  }

  /** Entries were committed. */
  changed(): void {
    this.#last = performance.now()
    if (this.#timer) return
    this.#first = this.#last
    this.#wait(QUIET_MS)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }

  /** One timer at a time, so that a commit costs only a note of the time. */
  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms).unref()
  }

  #look(): void {
    this.#timer = undefined
    const left = Math.min(this.#last + QUIET_MS, this.#first + LATEST_MS) - performance.now()
    if (left > 0) this.#wait(left)
    else this.#run()
  }
}
