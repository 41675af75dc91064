import { MainstemError } from '../model/index.ts'
import type { Receipt } from '../stores/store.ts'
import type { IdempotencyKey } from './claim.ts'

/** A request that has no response yet. */
export interface Flight {
  readonly fingerprint: string
  /** The receipt of the key, once the command is committed on this server. */
  receipt?: Receipt
  /** Marks the request as answered. */
  leave(): void
}

/** Keys whose first request has no response yet, on this server. */
export class InFlight {
  readonly #open = new Map<string, Flight>()

  enter({ scope, key, fingerprint }: IdempotencyKey): Flight {
    const id = idOf(scope, key)
    const open = this.#open.get(id)?.fingerprint
    if (open !== undefined && open !== fingerprint) {
      throw new MainstemError('idempotency_conflict', `key "${key}" is in use for a different request`)
    }
    if (open !== undefined)
      throw new MainstemError('conflict', `the request with key "${key}" is still running`)
    const flight: Flight = { fingerprint, leave: () => void this.#open.delete(id) }
    this.#open.set(id, flight)
    return flight
  }

  /** Call with the receipts of each commit. */
  committed(receipts: readonly Receipt[]): void {
    for (const receipt of receipts) {
      const flight = this.#open.get(idOf(receipt.scope, receipt.key))
      if (flight) flight.receipt = receipt
    }
  }
}

function idOf(scope: string, key: string): string {
  return JSON.stringify([scope, key])
}
