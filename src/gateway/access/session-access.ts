import { z } from 'zod'
import { isDamaged, MainstemError, SessionId, type SessionRecord } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { LOCAL } from '../http/auth.ts'

/** The path of everything about one session. */
export const SessionPath = z.strictObject({ id: z.string().describe('the id of a session') })

const HIDDEN = '[hidden]'

/** The record of a session of this principal. Somebody else's is told apart from none in no way. */
export async function ownedSession(
  { sessions }: Pick<GatewayDeps, 'sessions'>,
  principal: string,
  id: string,
): Promise<SessionRecord> {
  const record = SessionId.safeParse(id).success ? await sessions.record(id) : undefined
  if (record?.principal !== principal)
    throw new MainstemError('session_not_found', 'there is no such session')
  return record
}

/**
 * Refuses a session that this principal may not delete. The principal of a damaged session cannot be trusted, so only
 * the operator of the server may delete it.
 */
export async function deletableSession(
  deps: Pick<GatewayDeps, 'sessions'>,
  principal: string,
  id: string,
): Promise<void> {
  try {
    await ownedSession(deps, principal, id)
  } catch (thrown) {
    if (principal !== LOCAL || !isDamaged(thrown, id)) throw thrown
  }
}

/** A record without the values that may be secret; whoever set them has them. */
export function shown(record: SessionRecord): SessionRecord {
  const { env, mcpServers, ...options } = record.options
  return {
    ...record,
    options: {
      ...options,
      ...(env && { env: hide(env) }),
      ...(mcpServers && {
        mcpServers: Object.fromEntries(
          Object.entries(mcpServers).map(([name, { env, headers, ...server }]) => [
            name,
            { ...server, ...(env && { env: hide(env) }), ...(headers && { headers: hide(headers) }) },
          ]),
        ),
      }),
    },
  }
}

function hide(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, HIDDEN]))
}

/** Every record that fits, newest first, however many there are. */
export async function* allRecords(
  { sessions }: Pick<GatewayDeps, 'sessions'>,
  query: { principal?: string; asking?: boolean },
): AsyncGenerator<SessionRecord> {
  let before: string | undefined
  do {
    const page = await sessions.records({ ...query, ...(before !== undefined && { before }), limit: 200 })
    yield* page
    before = page.at(-1)?.id
  } while (before !== undefined)
}
