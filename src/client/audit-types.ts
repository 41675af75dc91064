import type { AuditAction, AuditRecord } from '../model/access.ts'

/** Which rows of the audit trail to read. */
export interface AuditSearch {
  /** Only what this principal did. */
  principal?: string
  /** Only what was done to this session. */
  session?: string
  /** Only this action. */
  action?: AuditAction
  /** Only rows from this time on, in milliseconds since 1970. */
  since?: number
  /** Only rows before this time, in milliseconds since 1970. */
  until?: number
  /** Which rows come first; `newest` by default. */
  order?: 'newest' | 'oldest'
  /** `next` of the page before. */
  after?: string
  /** Rows of a page, at most 1000; 100 by default. */
  limit?: number
}

/** A part of the audit trail. */
export interface AuditPage {
  /** The rows, in the order of the query. */
  records: readonly AuditRecord[]
  /** Pass it as `after` to get the next page; absent on the last one. */
  next?: string
}
