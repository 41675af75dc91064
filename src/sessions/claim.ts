import type { SessionRecord } from '../model/index.ts'

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
