import { MainstemError } from '../model/index.ts'
import type { IdempotencyKey } from './claim.ts'

/** Keys whose first request has no response yet, on this server. */
export class InFlight {
  readonly #open = new Map<string, string>()

  /** The returned function marks the request as answered. */
  enter({ scope, key, fingerprint }: IdempotencyKey): () => void {
    const id = JSON.stringify([scope, key])
    const open = this.#open.get(id)
    if (open !== undefined && open !== fingerprint) {
      throw new MainstemError('idempotency_conflict', `key "${key}" is in use for a different request`)
    }
    if (open !== undefined)
      throw new MainstemError('conflict', `the request with key "${key}" is still running`)
    this.#open.set(id, fingerprint)
    return () => void this.#open.delete(id)
  }
}
