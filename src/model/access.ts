import * as z from 'zod'
import type * as types from './access.types.ts'
import { Author } from './request/request.ts'
import type { StoredWebhook } from './webhook.ts'

/** What a principal may do besides using its own sessions. `operator`: runs the server for others. */
export const Role = z.enum(['operator'])
export type Role = types.Role

/** Allows one principal to read the sessions of another and to answer their requests, and nothing else. */
export const Grant = z.strictObject({
  to: z.string().describe('Who may read and answer.'),
  of: z.string().describe('Whose sessions.'),
  at: z.number().describe('When it was added, in milliseconds since 1970.'),
  by: z.string().describe('Who added it.'),
})
export type Grant = types.Grant

/** Who sent a command, and from where. */
export const Actor = z.strictObject({
  ...Author.shape,
  address: z.string().optional().describe('The address of the client; absent over the unix socket.'),
  request: z.string().optional().describe('The id of the HTTP request, as in `x-request-id`.'),
})
export type Actor = types.Actor

/** What was done. */
export const AuditAction = z.enum([
  'session.created',
  'session.forked',
  'session.resumed',
  'session.renamed',
  'session.ended',
  'session.exported',
  'session.imported',
  'session.deleted',
  'prompt.sent',
  'turn.steered',
  'turn.interrupted',
  'request.answered',
  'agent.changed',
  'model.changed',
  'policy.changed',
  'token.added',
  'token.removed',
  'grant.added',
  'grant.removed',
  'webhook.added',
  'webhook.changed',
  'webhook.removed',
])
export type AuditAction = types.AuditAction

/** One row of the audit trail: who did what, when, and from where. Rows are added and never changed. */
export const AuditRecord = z.strictObject({
  id: z.string().describe('Identifies the row.'),
  at: z.number().describe('When it was stored, by the clock of the store, in milliseconds since 1970.'),
  action: AuditAction.describe('What was done.'),
  ...Actor.shape,
  session: z.string().optional().describe('The session it was done to.'),
  details: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .optional()
    .describe('What else is known, such as the turn, the decision, or the name of the token.'),
})
export type AuditRecord = types.AuditRecord

/** A token of the store, which has its digest and never the token itself. */
export interface StoredToken {
  /** Unique. Of a named token it is the principal. */
  name: string
  principal: string
  /** SHA-256 in hexadecimal. */
  digest: string
  roles: readonly Role[]
  /** When it was added, by the clock of the store. */
  at: number
  /** Who added it. */
  by: string
  /** Set for the token of a command line: what it calls itself. */
  login?: string
  /** The digest of the named token that allowed this login, which ends with it. Absent if no token of the store did. */
  allowedBy?: string
}

/** A row of the audit trail, before the store gives it a time. A repeated id is stored once. */
export type AuditFact = Omit<AuditRecord, 'at'>

let auditRows = 0

/** The id of a new row of the audit trail. Rows of one time have the order of their ids, so this process counts them. */
export const auditId = (random: string) => `${String(++auditRows).padStart(12, '0')}-${random}`

/** A change of tokens or grants. Who makes it is in the fact that is stored with it. */
export type AccessChange =
  | (Pick<StoredToken, 'name' | 'digest' | 'roles'> & {
      type: 'token.added'
      /** Adds nothing if there ever was a token of this name, also one that was removed. */
      onlyIfUnknown?: boolean
    })
  /** The token of a command line. No digest is added twice, also not after its removal. */
  | (Pick<StoredToken, 'principal' | 'digest' | 'roles' | 'allowedBy'> & {
      type: 'login.added'
      login: string
      /** When it was added, if not now. */
      at?: number
    })
  /** Removes a token by its name, and the logins that it allowed. */
  | { type: 'token.removed'; name: string }
  | ({ type: 'grant.added' | 'grant.removed' } & Pick<Grant, 'to' | 'of'>)
  | { type: 'webhook.added'; webhook: Omit<StoredWebhook, 'at'> }
  /** Changes a webhook that is there. */
  | { type: 'webhook.changed'; id: string; to(before: StoredWebhook, at: number): StoredWebhook | undefined }
  | { type: 'webhook.removed'; id: string; principal: string }

/** The name of the token of a command line. No principal can have it. */
export const loginName = (digest: string) => `login:${digest}`

/** The change as the audit trail calls it: a login is a token. */
export const actionOf = ({ type }: AccessChange): AuditAction =>
  type === 'login.added' ? 'token.added' : type
