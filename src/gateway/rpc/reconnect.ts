import { z } from 'zod'
import { daemon } from '../../dialects/daemon.ts'
import { Event, type EventType, MainstemError, type SessionRecord } from '../../model/index.ts'
import { badCursor, type Cursor, parseCursor, START } from '../cursor.ts'
import { owned } from '../owned.ts'
import { PageReader } from '../page.ts'
import { type Method, method, paramsWith, type Rpc, sessionId } from './method.ts'

const Reconnect = paramsWith({
  sessionId,
  after: z
    .union([z.string(), z.int().nonnegative()])
    .optional()
    .describe('the cursor of an earlier answer, or the last id of a stream'),
})

/** Far more than anybody misses; a session that nobody ever listened to must not fill the memory. */
const MOST = 50_000

/** That a message waits is told to whoever sent it, and is nothing the agent did. */
const TOLD: ReadonlySet<EventType> = new Set(
  Event.options.map(({ shape }) => shape.type.value).filter((type) => type !== 'turn.queued'),
)

/** What a client has missed. Asking takes nothing away, so it can be asked again, and by others. */
export function reconnectMethod(rpc: Rpc): Method {
  const { parts, clients } = rpc
  return method(Reconnect, async ({ sessionId, after }, principal) => {
    await clients.noted(sessionId)
    const record = await owned(parts, principal, sessionId)
    const cursor = after === undefined ? undefined : parseCursor(`${after}`, 'after')
    const page = await undelivered(rpc, record, cursor)
    clients.show(record.id, parseCursor(page.next)?.seq ?? 0)
    return { bufferedEvents: page.messages, cursor: page.next, ...(page.full && { more: true }) }
  })
}

/** All after the cursor; without one, all since the last exchange that a client got whole. */
export async function undelivered(
  { parts, folds }: Rpc,
  record: SessionRecord,
  cursor?: Cursor,
): Promise<PageReader> {
  const { id, head, delivered = 0, earliest = 1 } = record
  if (cursor && cursor.seq > head) throw badCursor('beyond the end of this session', 'after')
  if (cursor && cursor.seq < earliest - 1) {
    throw new MainstemError('cursor_gone', `entries before ${earliest} are no longer kept`, { earliest })
  }
  const view = { dialect: daemon, options: {}, after: cursor ?? { ...START, seq: delivered }, types: TOLD }
  const page = new PageReader(parts, { id, view, from: earliest - 1, raw: false }, MOST, folds)
  if (delivered < head || cursor) await page.read(head)
  return page
}
