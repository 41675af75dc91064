// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { ClientKind } from './request/request.types.ts'

/** What a principal may do besides using its own sessions. `operator`: runs the server for others. */
export type Role = 'operator'

/** Allows one principal to read the sessions of another and to answer their requests, and nothing else. */
export type Grant = {
  /** Who may read and answer. */
  to: string
  /** Whose sessions. */
  of: string
  /** When it was added, in milliseconds since 1970. */
  at: number
  /** Who added it. */
  by: string
}

/** Who sent a command, and from where. */
export type Actor = {
  /** The principal whose client sent it. */
  principal: string
  /** The kind of client that sent it, as it named itself. */
  client: ClientKind
  /** The address of the client; absent over the unix socket. */
  address?: string | undefined
  /** The id of the HTTP request, as in `x-request-id`. */
  request?: string | undefined
}

/** What was done. */
export type AuditAction =
  | 'session.created'
  | 'session.forked'
  | 'session.resumed'
  | 'session.renamed'
  | 'session.ended'
  | 'session.exported'
  | 'session.imported'
  | 'session.deleted'
  | 'prompt.sent'
  | 'turn.steered'
  | 'turn.interrupted'
  | 'request.answered'
  | 'agent.changed'
  | 'model.changed'
  | 'policy.changed'
  | 'token.added'
  | 'token.removed'
  | 'grant.added'
  | 'grant.removed'
  | 'webhook.added'
  | 'webhook.changed'
  | 'webhook.removed'

/** One row of the audit trail: who did what, when, and from where. Rows are added and never changed. */
export type AuditRecord = {
  /** Identifies the row. */
  id: string
  /** When it was stored, by the clock of the store, in milliseconds since 1970. */
  at: number
  /** What was done. */
  action: AuditAction
  /** The principal whose client sent it. */
  principal: string
  /** The kind of client that sent it, as it named itself. */
  client: ClientKind
  /** The address of the client; absent over the unix socket. */
  address?: string | undefined
  /** The id of the HTTP request, as in `x-request-id`. */
  request?: string | undefined
  /** The session it was done to. */
  session?: string | undefined
  /** What else is known, such as the turn, the decision, or the name of the token. */
  details?: Record<string, string | number> | undefined
}
