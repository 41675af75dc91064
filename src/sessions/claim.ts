import { MainstemError, type SessionRecord } from '../model/index.ts'
import type { Receipt, Store } from '../stores/store.ts'

export interface IdempotencyKey {
  /** Who asks, and where: the same key of somebody else is another key. */
  scope: string
  key: string
  fingerprint: string
}

/** A key that a command uses up, in the same commit as what it does. */
export interface Claim extends IdempotencyKey {
  /** What a repetition is answered with, told by what the session is then. */
  answer(record: SessionRecord): unknown
}

/**
 * Refuses a request that repeats a key with another body, or whose session was removed since: its first answer is
 * gone, and it must not have its effect again.
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
  throw new MainstemError('session_not_found', `the session of key "${once.key}" was removed`)
}
