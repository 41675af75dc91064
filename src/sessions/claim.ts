import { MainstemError, type SessionRecord } from '../model/index.ts'
import type { Receipt, Store } from '../stores/store.ts'

export interface IdempotencyKey {
  /** Principal and route. The same key in another scope is a different key. */
  scope: string
  key: string
  fingerprint: string
}

/** An idempotency key that is stored in the same commit as the effect of its command. */
export interface Claim extends IdempotencyKey {
  /** The response to a repeated request, computed from the record at the commit. */
  answer(record: SessionRecord): unknown
}

/**
 * Refuses a request that repeats a key with another body, or whose session was deleted: its first response is gone,
 * and it must not take effect again.
 */
export async function checkReceipt(
  store: Pick<Store, 'record'>,
  { fingerprint, session }: Receipt,
  once: IdempotencyKey,
): Promise<void> {
  if (fingerprint !== once.fingerprint) {
    throw new MainstemError('idempotency_conflict', `key "${once.key}" was used for a different request`)
  }
  if (await store.record(session)) return
  throw new MainstemError('session_not_found', `the session of key "${once.key}" was deleted`)
}
