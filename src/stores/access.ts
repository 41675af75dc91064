import type {
  AccessChange,
  AuditAction,
  AuditFact,
  AuditRecord,
  Grant,
  StoredToken,
} from '../model/access.ts'
import type { StoredWebhook } from '../model/webhook.ts'

/** The time in which an id can be used, by the clock of the store. */
export interface ValidTime {
  from: number
  until: number
}

/** A place in the audit trail: rows are in the order of their times. */
export type AuditPlace = Pick<AuditRecord, 'at' | 'id'>

/** Selects rows of the audit trail. */
export interface AuditQuery {
  principal?: string
  action?: AuditAction
  session?: string
  /** Only rows from this time on. */
  since?: number
  /** Only rows before this time. */
  until?: number
  order: 'newest' | 'oldest'
  /** Only rows that follow this place in the order. */
  after?: AuditPlace
  limit: number
}

/**
 * Who may use the server, and who did what. Tokens and grants hold on every server of a store: another server sees a
 * change at once, or within a second if it gets no notifications. Damaged tokens and grants are left out, so that they
 * allow nothing.
 */
export interface AccessStore {
  /** In the order of their names. Without the logins whose token was removed. The same list as before if none changed. */
  tokens(): Promise<readonly StoredToken[]>
  /** In the order of their names. */
  grants(): Promise<readonly Grant[]>
  /** In the order in which they were added. Those that are damaged are left out, so that nobody else is called. */
  webhooks(): Promise<readonly StoredWebhook[]>
  /**
   * Applies a change and stores its fact in one transaction. Returns false, and stores nothing, if there is nothing to
   * change: what is to be added is there already, or what is to be removed is not.
   */
  change(change: AccessChange, fact: AuditFact): Promise<boolean>
  /** The clock of the store. */
  now(): Promise<number>
  /**
   * Uses an id that is valid for some time, by the clock of the store. Returns false if it was used before, on any
   * server, or is not valid now. A store that forgets what was used accepts no id from before.
   */
  consume(id: string, valid: ValidTime): Promise<boolean>
  /** Stores a fact that has no commit of its own. */
  note(fact: AuditFact): Promise<void>
  /** Reads the audit trail. Refuses damaged rows with `storage_failed`. */
  audit(query: AuditQuery): Promise<readonly AuditRecord[]>
  /** Removes rows of the audit trail older than this, by the clock of the store. */
  forgetAudit(ms: number): Promise<void>
}
