import { type Attend, type AttendedSession, attend } from '../../attend/attend.ts'
import type { MainstemClient } from '../../client/mainstem-client.ts'
import type { TurnCompleted } from '../../model/events/turn.ts'

export interface Follow extends Attend {
  client: MainstemClient
  session: string
}

/** Attends a session of a server. */
export function follow({ client, session, ...options }: Follow): Promise<TurnCompleted | undefined> {
  return attend(attendedOf(client, session), options)
}

function attendedOf(client: MainstemClient, session: string): AttendedSession {
  return {
    entries: (after, signal) => client.entries(session, { after, signal }),
    openRequests: async () => (await client.session(session)).requests,
    answer: ({ requestId, inputDigest }, { type: _, requestId: __, ...decision }) =>
      client.answer(session, requestId, { ...decision, inputDigest }),
  }
}
