import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { coalesce } from './coalesce.ts'

/** The check needs no token, so frequent calls must stay cheap. */
const VALID_MS = 1_000

type StorageState = 'writable' | 'failed'

/** Checks whether the store is writable, at most once a second. */
export class StorageCheck {
  readonly #deps: Pick<GatewayDeps, 'probe' | 'report'>
  readonly #now: () => number
  readonly #probe = coalesce(() => this.#ask())
  #last: { result: StorageState; at: number } | undefined

  constructor(deps: Pick<GatewayDeps, 'probe' | 'report'>, now = () => performance.now()) {
    this.#deps = deps
    this.#now = now
  }

  /** The error omits the path, because the caller may have no token. */
  async run(): Promise<void> {
    const isFresh = this.#last !== undefined && this.#now() - this.#last.at < VALID_MS
    if (!isFresh) await this.#probe()
    if (this.#last?.result === 'failed')
      throw new MainstemError('storage_failed', 'the store is not writable; see the server log')
  }

  async #ask(): Promise<void> {
    const result = await this.#deps.probe().then(
      () => 'writable' as const,
      (thrown: unknown) => {
        // Reports once per failure, not once per call.
        if (this.#last?.result !== 'failed') this.#deps.report(thrown)
        return 'failed' as const
      },
    )
    this.#last = { result, at: this.#now() }
  }
}
