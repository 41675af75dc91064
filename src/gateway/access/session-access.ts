import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { isDamaged, MainstemError, SessionId, type SessionRecord } from '../../model/index.ts'
import type { Sessions } from '../../sessions/sessions.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Caller, isOperator } from '../http/auth.ts'

/** The path parameters of all endpoints of one session. */
export const SessionPath = z.strictObject({ id: z.string().describe('the id of a session') })

async function recordOf({ sessions }: Pick<GatewayDeps, 'sessions'>, id: string) {
  return SessionId.safeParse(id).success ? sessions.record(id) : undefined
}

function noSession(): MainstemError {
  return new MainstemError('session_not_found', 'no such session')
}

/** Loads a session owned by `principal`. Responds as if another principal's session did not exist. */
export async function ownedSession(
  deps: Pick<GatewayDeps, 'sessions'>,
  principal: string,
  id: string,
): Promise<SessionRecord> {
  const record = await recordOf(deps, id)
  if (record?.principal !== principal) throw noSession()
  return record
}

/** Who calls, and the principals whose grants the response depends on. */
type Reader = Pick<FastifyRequest, 'principal' | 'grantedBy'>

/**
 * Loads a session that the caller may read, and whose requests it may answer: one of its own, or of a principal that it
 * has a grant for. The response ends when the grant is removed.
 */
export async function readableSession(
  deps: Pick<GatewayDeps, 'sessions' | 'tokens' | 'accessControl'>,
  { principal, grantedBy }: Reader,
  id: string,
): Promise<SessionRecord> {
  const record = await recordOf(deps, id)
  if (record?.principal === principal) return record
  if (!record || !(await readableBy(deps, principal)).has(record.principal)) throw noSession()
  grantedBy.add(record.principal)
  return record
}

/** The principals whose sessions a principal may read: itself, and those that it has grants for. */
export async function readableBy(
  { tokens, accessControl }: Pick<GatewayDeps, 'tokens' | 'accessControl'>,
  principal: string,
): Promise<ReadonlySet<string>> {
  return tokens ? accessControl.readableBy(principal) : new Set([principal])
}

/**
 * Refuses a session that this principal may not delete. The principal of a damaged session cannot be trusted, so only
 * an operator may delete it.
 */
export async function deletableSession(
  deps: Pick<GatewayDeps, 'sessions'>,
  caller: Caller,
  id: string,
): Promise<void> {
  try {
    await ownedSession(deps, caller.principal, id)
  } catch (thrown) {
    if (!isOperator(caller) || !isDamaged(thrown, id)) throw thrown
  }
}

/** A page of records, and the session that the next page begins after, if there is one. */
export interface RecordPage {
  records: readonly SessionRecord[]
  next?: string
}

/** Lists the sessions of these principals, newest first. A page of large records has fewer than `limit`. */
export async function recordPage(
  deps: Pick<GatewayDeps, 'sessions'>,
  query: Parameters<Sessions['records']>[0] & { principals: readonly string[] },
): Promise<RecordPage> {
  const { principals, before, limit } = query
  // A page that starts at an unknown session would start from the beginning.
  if (before !== undefined) {
    const record = await recordOf(deps, before)
    if (!record || !principals.includes(record.principal)) throw noSession()
  }
  const records = await deps.sessions.records(query)
  const last = records.at(-1)?.id
  if (last === undefined) return { records }
  const isCut = records.length < limit
  const more = isCut ? await deps.sessions.records({ ...query, before: last, limit: 1 }) : records
  return more.length > 0 ? { records, next: last } : { records }
}
