import { MainstemError } from '../../model/index.ts'
import { coalesce } from './coalesce.ts'

/** The check needs no token, so frequent calls must stay cheap. */
const VALID_MS = 1_000

/** How often the store is checked without being asked, so that streams report a failure within seconds. */
const WATCH_MS = 2_000

const MESSAGE = 'the store is not writable; see the server log'

/** The store cannot be written. */
export interface StorageFailure {
  code: 'storage_failed'
  message: string
  /** When it was noticed, in milliseconds since 1970. */
  since: number
}

export interface StorageCheckDeps {
  /** Throws `storage_failed` while the store is not writable. */
  probe(): Promise<void>
  report(thrown: unknown): void
}

/** Checks whether the store is writable, at most once a second, and tells listeners when that changes. */
export class StorageCheck {
  readonly #deps: StorageCheckDeps
  readonly #now: () => number
  readonly #probe = coalesce(() => this.#ask())
  readonly #listeners = new Set<() => void>()
  #failure: StorageFailure | undefined
  #asked: number | undefined

  constructor(deps: StorageCheckDeps, now = () => performance.now()) {
    this.#deps = deps
    this.#now = now
  }

  /** What the last check found. */
  get failure(): StorageFailure | undefined {
    return this.#failure
  }

  /** The error omits the path, because the caller may have no token. */
  async run(): Promise<void> {
    const isFresh = this.#asked !== undefined && this.#now() - this.#asked < VALID_MS
    if (!isFresh) await this.#probe()
    if (this.#failure) throw new MainstemError(this.#failure.code, this.#failure.message)
  }

  /** Calls `listener` at each failure and at its end. The returned function removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Checks regularly, until the returned function is called. */
  watch(): () => void {
    const timer = setInterval(() => void this.#probe(), WATCH_MS)
    timer.unref()
    return () => clearInterval(timer)
  }

  async #ask(): Promise<void> {
    const failure = await this.#deps.probe().then(
      () => undefined,
      (thrown: unknown) => {
        // Reports once per failure, not once per call.
        if (!this.#failure) this.#deps.report(thrown)
        return this.#failure ?? { code: 'storage_failed' as const, message: MESSAGE, since: Date.now() }
      },
    )
    const isChanged = failure !== this.#failure
    this.#failure = failure
    this.#asked = this.#now()
    if (isChanged) for (const listener of this.#listeners) listener()
  }
}
