import { finished } from 'node:stream/promises'
import { z } from 'zod'
import { daemon } from '../../dialects/daemon.ts'
import {
  type Entry,
  Event,
  type EventType,
  MainstemError,
  type SessionRecord,
  toMainstemError,
} from '../../model/index.ts'
import { isDelivered, type TurnRead } from '../../sessions/delivery.ts'
import { ownedSession } from '../access/session-access.ts'
import { badCursor, type Cursor, parseCursor, START } from '../streams/cursor.ts'
import { PageReader } from '../streams/page.ts'
import { PageRoom } from '../streams/page-room.ts'
import type { View } from '../streams/projector.ts'
import { type Method, method, paramsWith, type Rpc, sessionId } from './method.ts'

const Reconnect = paramsWith({
  sessionId,
  after: z
    .union([z.string(), z.int().nonnegative()])
    .optional()
    .describe('the cursor of an earlier answer, or the last id of a stream'),
})

/** Far more than a client misses. */
const MOST = 50_000

/** That a message waits is told to whoever sent it, and is nothing the agent did. */
const TOLD: ReadonlySet<EventType> = new Set(
  Event.options.map(({ shape }) => shape.type.value).filter((type) => type !== 'turn.queued'),
)

/** What a client has missed. It counts as delivered once the answer was handed to the network. */
export function reconnectMethod(rpc: Rpc): Method {
  const { deps, clients } = rpc
  return method(Reconnect, async ({ sessionId, after }, principal, reply) => {
    await clients.noted(sessionId)
    const record = await ownedSession(deps, principal, sessionId)
    const cursor = after === undefined ? undefined : parseCursor(`${after}`, 'after')
    const room = await PageRoom.enter(deps, reply)
    const page = await undelivered(rpc, record, { cursor, room })
    clients.show(record.id, parseCursor(page.next)?.seq ?? 0)
    finished(reply.raw).then(
      () => clients.note(sessionId, delivered(rpc, record, [...page.turns.values()])).catch(deps.report),
      // The client went away before it had the answer, and gets the same answer again.
      () => undefined,
    )
    room.complete()
    return { bufferedEvents: page.messages, cursor: page.next, ...(page.full && { more: true }) }
  })
}

/** A session that has ended, or a server that stops, takes no more notes: what is read then can be read again. */
async function delivered({ deps, clients }: Rpc, record: SessionRecord, reads: readonly TurnRead[]) {
  clients.cameBack(record.id)
  if (record.status === 'ended' || reads.every(({ turn, seq }) => isDelivered(record, { turn, seq }))) return
  try {
    await (await deps.sessions.open(record.id)).delivered(reads)
  } catch (thrown) {
    const { code } = toMainstemError(thrown)
    if (code !== 'draining' && code !== 'conflict' && code !== 'session_not_found') throw thrown
  }
}

interface Wanted {
  cursor?: Cursor | undefined
  /** Turns that are left out. */
  except?: readonly number[]
  /** Without it the messages are counted and not kept. */
  room?: PageRoom
}

/** All after the cursor; without one, all that no client has read. */
export async function undelivered(
  { deps, folds }: Rpc,
  record: SessionRecord,
  { cursor, except = [], room }: Wanted = {},
): Promise<PageReader> {
  const { id, head, delivered = 0, earliest = 1 } = record
  if (cursor && cursor.seq > head) throw badCursor('beyond the end of this session', 'after')
  if (cursor && cursor.seq < earliest - 1) {
    throw new MainstemError('cursor_gone', `entries before ${earliest} are no longer kept`, { earliest })
  }
  const omits = (entry: Entry) =>
    isDelivered(record, entry) || (entry.turn !== undefined && except.includes(entry.turn))
  const view: View = {
    dialect: daemon,
    options: {},
    after: cursor ?? { ...START, seq: delivered },
    types: TOLD,
    ...(!cursor && { omits }),
  }
  const limits = { limit: MOST, ...(room ? { room } : { countOnly: true }) }
  const page = new PageReader(deps, { id, view, from: earliest - 1, raw: false }, limits, folds)
  if (delivered < head || cursor) await page.read(head)
  return page
}
