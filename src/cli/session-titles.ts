import type { SessionRecord } from '../client/index.ts'
import type { MainstemClient } from '../client/mainstem-client.ts'
import type { ErrorCode } from '../model/errors.ts'
import { MainstemError } from '../model/mainstem-error.ts'

/** Calls at a time. */
const AT_ONCE = 20

const GONE: ReadonlySet<ErrorCode> = new Set(['session_not_found', 'cursor_gone'])

/** Few agents name their sessions; the others have their first prompt as their title. */
export async function withTitles(
  client: MainstemClient,
  sessions: readonly SessionRecord[],
): Promise<SessionRecord[]> {
  const titled: SessionRecord[] = []
  for (let at = 0; at < sessions.length; at += AT_ONCE) {
    const some = sessions.slice(at, at + AT_ONCE)
    titled.push(...(await Promise.all(some.map((session) => withTitle(client, session)))))
  }
  return titled
}

async function withTitle(client: MainstemClient, session: SessionRecord): Promise<SessionRecord> {
  const { id, title, turns, queue, earliest = 1 } = session
  if (title !== undefined || (turns === 0 && queue.length === 0)) return session
  try {
    const query = { types: ['turn.started', 'turn.queued'] as const, after: earliest - 1, limit: 1 }
    const { entries: [first] = [] } = await client.page(id, query)
    const event = first?.event
    const isPrompt = event?.type === 'turn.started' || event?.type === 'turn.queued'
    return isPrompt && event.prompt !== undefined ? { ...session, title: event.prompt } : session
  } catch (thrown) {
    // Removed, or its beginning was, after it was listed.
    if (thrown instanceof MainstemError && GONE.has(thrown.code)) return session
    throw thrown
  }
}
