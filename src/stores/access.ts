import type { AuditAction, AuditRecord, Grant, Role } from '../model/access.ts'

/** A token of the store, which has its digest and never the token itself. */
export interface StoredToken {
  name: string
  /** SHA-256 in hexadecimal. */
  digest: string
  roles: readonly Role[]
  /** When it was added, by the clock of the store. */
  at: number
  /** Who added it. */
  by: string
}

/** A row of the audit trail, before the store gives it a time. A repeated id is stored once. */
export type AuditFact = Omit<AuditRecord, 'at'>

/** A change of tokens or grants. Who makes it is in the fact that is stored with it. */
export type AccessChange =
  | (Pick<StoredToken, 'name' | 'digest' | 'roles'> & {
      type: 'token.added'
      /** Adds nothing if there ever was a token of this name, also one that was removed. */
      onlyIfUnknown?: boolean
    })
  | { type: 'token.removed'; name: string }
  | ({ type: 'grant.added' | 'grant.removed' } & Pick<Grant, 'to' | 'of'>)

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
  /** In the order of their names. */
  tokens(): Promise<readonly StoredToken[]>
  /** In the order of their names. */
  grants(): Promise<readonly Grant[]>
  /**
   * Applies a change and stores its fact in one transaction. Returns false, and stores nothing, if there is nothing to
   * change: what is to be added is there already, or what is to be removed is not.
   */
  change(change: AccessChange, fact: AuditFact): Promise<boolean>
  /** Stores a fact that has no commit of its own. */
  note(fact: AuditFact): Promise<void>
  /** Reads the audit trail. Refuses damaged rows with `storage_failed`. */
  audit(query: AuditQuery): Promise<readonly AuditRecord[]>
  /** Removes rows of the audit trail older than this, by the clock of the store. */
  forgetAudit(ms: number): Promise<void>
}
