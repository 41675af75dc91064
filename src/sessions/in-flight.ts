import { MainstemError } from '../model/index.ts'
import type { Receipt } from '../stores/store.ts'
import type { IdempotencyKey } from './claim.ts'

/** A request that has no response yet. */
export interface Flight {
  readonly fingerprint: string
  /** Resolves when the request has its response. */
  readonly left: Promise<void>
  /** The receipt of the key, once the command is committed on this server. */
  receipt?: Receipt
  /** Marks the request as answered. */
  leave(): void
}

/** Keys whose first request has no response yet, on this server. */
export class InFlight {
  readonly #open = new Map<string, Flight>()

  /** Waits for an equal request that is running: its receipt, if it left one, is then the response to this one too. */
  async enter({ scope, key, fingerprint }: IdempotencyKey): Promise<Flight> {
    const id = idOf(scope, key)
    for (let open = this.#open.get(id); open; open = this.#open.get(id)) {
      if (open.fingerprint !== fingerprint)
        throw new MainstemError('idempotency_conflict', `key "${key}" is in use for a different request`)
      await open.left
    }
    const { promise: left, resolve } = Promise.withResolvers<void>()
    const leave = () => {
      this.#open.delete(id)
      resolve()
    }
    const flight: Flight = { fingerprint, left, leave }
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
