import { finished } from 'node:stream/promises'
import * as z from 'zod'
import { daemon } from '../../dialects/daemon.ts'
import { type Entry, Event, type EventType, type SessionRecord, toMainstemError } from '../../model/index.ts'
import { isDelivered, type TurnRead } from '../../sessions/turns/delivery.ts'
import { ownedSession } from '../access/session-access.ts'
import { checkKept, checkReached, type MessageCursor, parseCursor, START } from '../streams/cursor.ts'
import { PageReader } from '../streams/page.ts'
import { PageRoom } from '../streams/page-room.ts'
import type { StreamView } from '../streams/projector.ts'
import { type Method, method, paramsWith, type Rpc, sessionId } from './method.ts'

const Reconnect = paramsWith({
  sessionId,
  after: z
    .union([z.string(), z.int().nonnegative()])
    .optional()
    .describe('the cursor of an earlier response, or the last id of a stream'),
})

/** Far more messages than a client misses. */
const MAX_MESSAGES = 50_000

/** `turn.queued` is excluded: it is reported to the sender and is not an action of the agent. */
const REPORTED_TYPES: ReadonlySet<EventType> = new Set(
  Event.options.map(({ shape }) => shape.type.value).filter((type) => type !== 'turn.queued'),
)

/** Returns the messages that a client missed. They count as delivered once the response was passed to the network. */
export function reconnectMethod(rpc: Rpc): Method {
  const { deps, clients } = rpc
  return method(Reconnect, async ({ sessionId, after }, principal, { reply, raw }) => {
    await clients.deliveriesRecorded(sessionId)
    const record = await ownedSession(deps, principal, sessionId)
    const cursor = after === undefined ? undefined : parseCursor(`${after}`, 'after')
    const room = await PageRoom.enter(deps, reply)
    const page = await undelivered(rpc, record, { cursor, room, raw })
    clients.show(record.id, parseCursor(page.next)?.seq ?? 0)
    finished(reply.raw).then(
      () =>
        clients
          .recordDelivery(sessionId, delivered(rpc, record, [...page.turns.values()]))
          .catch(deps.report),
      // The client disconnected before it had the response, and gets the same response again.
      () => undefined,
    )
    room.complete()
    return { bufferedEvents: page.messages, cursor: page.next, ...(page.full && { more: true }) }
  })
}

/** An ended session or a stopping server records no deliveries: the messages can be read again. */
async function delivered({ deps, clients }: Rpc, record: SessionRecord, reads: readonly TurnRead[]) {
  clients.cameBack(record.id)
  if (record.status === 'ended' || reads.every(({ turn, seq }) => isDelivered(record, { turn, seq }))) return
  try {
    await (await deps.cluster.open(record.id)).delivered(reads)
  } catch (thrown) {
    const { code } = toMainstemError(thrown)
    if (code !== 'draining' && code !== 'conflict' && code !== 'session_not_found') throw thrown
  }
}

interface Wanted {
  cursor?: MessageCursor | undefined
  /** Turns to exclude. */
  except?: readonly number[]
  /** Without it the messages are counted but not kept, and all of them. */
  room?: PageRoom
  /** Whether native messages are included. */
  raw?: boolean
}

/** Returns all messages after the cursor; without one, all that no client has read. */
export async function undelivered(
  { deps, cache }: Rpc,
  record: SessionRecord,
  { cursor, except = [], room, raw = false }: Wanted = {},
): Promise<PageReader> {
  const { id, head, delivered = 0, earliest = 1 } = record
  if (cursor) await checkReached(deps.sessions, record, cursor, 'after')
  if (cursor) checkKept(cursor.seq, earliest)
  const omits = (entry: Entry) =>
    isDelivered(record, entry) || (entry.turn !== undefined && except.includes(entry.turn))
  const view: StreamView = {
    dialect: daemon,
    options: raw ? { raw: '1' } : {},
    after: cursor ?? { ...START, seq: delivered },
    types: REPORTED_TYPES,
    ...(!cursor && { omits }),
  }
  const limits = room ? { limit: MAX_MESSAGES, room } : { limit: Number.POSITIVE_INFINITY, countOnly: true }
  const page = new PageReader(deps, { id, view, from: earliest - 1, raw }, limits, cache)
  if (delivered < head || cursor) await page.read(head)
  return page
}
