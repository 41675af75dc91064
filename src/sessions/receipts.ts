import type { Receipt, Store } from '../stores/store.ts'
import { checkReceipt, type IdempotencyKey } from './claim.ts'
import { InFlight } from './in-flight.ts'

/** A session that a key has: with `session` if the call created it. */
interface Created<Of> {
  id: string
  session?: Of
}

/** The idempotency keys that were used, and those whose first request is running on this server. */
export class Receipts<Of> {
  readonly inFlight = new InFlight()
  readonly #store: Pick<Store, 'receipt' | 'record'>
  readonly #creating = new Map<string, Promise<unknown>>()

  constructor(store: Pick<Store, 'receipt' | 'record'>) {
    this.#store = store
  }

  /** Returns the receipt of a key, if it was used. Refused if its session was deleted since. */
  async find(once: IdempotencyKey): Promise<Receipt | undefined> {
    const receipt = await this.#store.receipt(once.scope, once.key)
    if (receipt) await checkReceipt(this.#store, receipt, once)
    return receipt
  }

  /** Returns the session of a key, or calls `create`. Concurrent calls with one key wait, so that only one creates. */
  async sessionOf(once: IdempotencyKey, create: () => Promise<Created<Of>>): Promise<Created<Of>> {
    const key = JSON.stringify([once.scope, once.key])
    await this.#creating.get(key)?.catch(() => undefined)
    const before = await this.find(once)
    if (before) return { id: before.session }
    if (this.#creating.has(key)) return this.sessionOf(once, create)
    const creating = create()
    this.#creating.set(key, creating)
    return creating.finally(() => this.#creating.delete(key))
  }
}
