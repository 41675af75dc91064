import { withoutSecrets } from '../mask/secrets.ts'
import { MainstemError, type SessionRecord } from '../model/index.ts'
import type { Receipt, Store } from '../stores/store.ts'

export interface IdempotencyKey {
  /** Principal and route. The same key in another scope is a different key. */
  scope: string
  key: string
  fingerprint: string
}

/** The response to a repeated request: the session, its id, its last turn, or the result of the command. */
export const ANSWER_FORMS = ['session', 'changed', 'id', 'turn', 'result'] as const
export type AnswerForm = (typeof ANSWER_FORMS)[number]

/**
 * An idempotency key that is stored in the same commit as the effect of its command. Plain data, so that another node
 * can commit it.
 */
export interface Claim extends IdempotencyKey {
  answer: AnswerForm
}

/** The rows of keys whose command changed nothing. */
export function receiptsOf(claims: readonly Claim[], record: SessionRecord): Receipt[] {
  return claims.map(({ answer, ...once }) => ({
    ...once,
    session: record.id,
    answer: answerOf(answer, record, undefined),
  }))
}

/** Computes that response from the record at the commit and the result of the command. */
export function answerOf(form: AnswerForm, record: SessionRecord, result: unknown): unknown {
  switch (form) {
    case 'session':
      return withoutSecrets(record)
    case 'changed':
      return { ...withoutSecrets(record), applied: result }
    case 'id':
      return record.id
    case 'turn':
      return { turn: record.turns }
    case 'result':
      return result
    default:
      return form satisfies never
  }
}

/**
 * Refuses a request that repeats a key with another body, or whose session was deleted: its first response is gone,
 * and it must not take effect again.
 */
export async function checkReceipt(
  sessions: Pick<Store, 'record'>,
  { fingerprint, session }: Receipt,
  once: IdempotencyKey,
): Promise<void> {
  if (fingerprint !== once.fingerprint) {
    throw new MainstemError('idempotency_conflict', `key "${once.key}" was used for a different request`)
  }
  if (await sessions.record(session)) return
  throw new MainstemError('session_not_found', `the session of key "${once.key}" was deleted`)
}
