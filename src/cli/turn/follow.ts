import { type Attend, type AttendedSession, attend } from '../../attend/attend.ts'
import type { MainstemClient } from '../../client/mainstem-client.ts'
import type { ServerNotice } from '../../client/server-types.ts'
import type { TurnCompleted } from '../../model/events/turn.ts'

export interface Follow extends Attend {
  client: MainstemClient
  session: string
  /** Called when the server cannot write its store, and when it can again. */
  notice?: (text: string) => void
}

/** Attends a session of a server. */
export function follow({ client, session, notice, ...options }: Follow): Promise<TurnCompleted | undefined> {
  return attend(attendedOf(client, session, notice), options)
}

function attendedOf(client: MainstemClient, session: string, notice: Follow['notice']): AttendedSession {
  let last: string | undefined
  // A request that is asked has a reader of its own.
  const onNotice = (notified: ServerNotice) => {
    const text = noticeText(notified)
    if (text !== last && (last !== undefined || notified.type === 'server.degraded')) notice?.(text)
    last = text
  }
  return {
    entries: (after, signal) => client.entries(session, { after, signal, ...(notice && { onNotice }) }),
    openRequests: async () => (await client.session(session)).requests,
    answer: ({ requestId, inputDigest }, { type: _, requestId: __, ...decision }) =>
      client.answer(session, requestId, { ...decision, inputDigest }),
  }
}

/** The warning about a server that cannot write its store. */
export function noticeText(notice: ServerNotice): string {
  if (notice.type === 'server.recovered') return 'the server can write its store again'
  const since = new Date(notice.since).toLocaleTimeString()
  return `warning: since ${since}, ${notice.message}; no turn makes progress`
}
