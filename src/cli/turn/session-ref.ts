import type { SessionQuery, SessionRecord } from '../../client/index.ts'
import type { MainstemClient } from '../../client/mainstem-client.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { nearest } from '../../model/text/nearest.ts'
import { MAINSTEM } from '../own-command.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const PAGE = 500
const SHORT = 8

type NamedSession = Pick<SessionRecord, 'id'> & { name?: string | undefined }

/** Whether it is a whole id. */
export function isSessionId(ref: string): boolean {
  return UUID.test(ref)
}

/** The part of an id that people type. */
export function shortId(id: string): string {
  return id.slice(0, SHORT)
}

/** How to refer to a session: by its name, or by the beginning of its id. */
export function refOf({ id, name }: NamedSession): string {
  return name ?? shortId(id)
}

/** The command that continues a session, or retries its last prompt. */
export function continueHint(session: NamedSession): string {
  return `continue: ${MAINSTEM} send ${refOf(session)} "…"`
}

/** The session that a word refers to: an id, its beginning, a name, or `last`. */
export async function sessionOf(client: MainstemClient, ref: string): Promise<SessionRecord> {
  if (isSessionId(ref)) return client.session(ref)
  return match(ref, await allSessions(client))
}

/** Newest first. */
export async function allSessions(
  client: MainstemClient,
  filter: Omit<SessionQuery, 'before' | 'limit'> = {},
): Promise<SessionRecord[]> {
  const found: SessionRecord[] = []
  for (let before: string | undefined; ; ) {
    const { sessions, next } = await client.sessions({
      ...filter,
      limit: PAGE,
      ...(before !== undefined && { before }),
    })
    found.push(...sessions)
    if (next === undefined) return found
    before = next
  }
}

/** The newest session of that name, or the one whose id begins so. */
export function match<Session extends NamedSession>(ref: string, sessions: readonly Session[]): Session {
  const [newest] = sessions
  if (ref === 'last' && newest) return newest
  const named = sessions.find(({ name }) => name === ref)
  if (named) return named
  const found = ref === '' ? [] : sessions.filter(({ id }) => id.startsWith(ref.toLowerCase()))
  const [only, another] = found
  if (only && !another) return only
  if (only) {
    const ids = found.slice(0, 5).map(({ id }) => shortId(id))
    throw new MainstemError('session_not_found', `${found.length} sessions begin with "${ref}"`, {
      advice: `Give more characters: ${ids.join(', ')}${found.length > 5 ? ', …' : ''}`,
    })
  }
  if (sessions.length === 0) {
    throw new MainstemError('session_not_found', 'there are no sessions yet', {
      advice: 'Begin one with `mainstem run`.',
    })
  }
  const near = nearest(
    ref,
    sessions.flatMap(({ id, name }) => [shortId(id), ...(name === undefined ? [] : [name])]),
  )
  const advice =
    near === undefined
      ? 'List the sessions with `mainstem ls`.'
      : `Did you mean "${near}"? \`mainstem ls\` lists all.`
  throw new MainstemError('session_not_found', `there is no session "${ref}"`, { advice })
}
