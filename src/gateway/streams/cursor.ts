import { MainstemError, type SessionRecord } from '../../model/index.ts'
import type { SessionLogs } from '../../reading/session-logs.ts'

/** The last message that a client has: all of entry `seq`, or its first `part` messages. */
export interface MessageCursor {
  seq: number
  part: number
}

export const START: MessageCursor = { seq: 0, part: Number.POSITIVE_INFINITY }

/** `12`, or `12.3` if entry 12 has several messages. */
export function messageId(seq: number, part: number, parts: number): string {
  return parts === 1 ? `${seq}` : `${seq}.${part}`
}

export function isAfter(cursor: MessageCursor, seq: number, part: number): boolean {
  return seq > cursor.seq || (seq === cursor.seq && part > cursor.part)
}

const HEADER = 'Last-Event-ID'

const ID = /^(0|[1-9]\d{0,14})(?:\.([1-9]\d{0,8}))?$/

/** Parses `Last-Event-ID` or another field; returns undefined when it is absent. */
export function parseCursor(
  text: string | string[] | undefined,
  field: string = HEADER,
): MessageCursor | undefined {
  if (text === undefined || text === '') return undefined
  const match = typeof text === 'string' ? ID.exec(text) : null
  if (!match) throw badCursor('not an id of this server', field)
  return { seq: Number(match[1]), part: match[2] === undefined ? START.part : Number(match[2]) }
}

export function badCursor(why: string, field: string = HEADER): MainstemError {
  return new MainstemError('invalid_request', `${field}: ${why}`, {
    field,
    advice: 'Send a cursor of this session, or none to read from the start.',
  })
}

/**
 * Refuses a cursor beyond the end. The owner of a session may not know yet that its last commit is stored, when another
 * node has sent it already, so the store decides.
 */
export async function checkReached(
  logs: Pick<SessionLogs, 'head'>,
  { id, head }: Pick<SessionRecord, 'id' | 'head'>,
  { seq }: MessageCursor,
  field?: string,
): Promise<void> {
  if (seq > head && seq > (await logs.head(id))) throw badCursor('beyond the end of this session', field)
}

/** Throws `cursor_gone` if the entries after the cursor were removed, so that a gap is never silent. */
export function checkKept(after: number, earliest = 1): void {
  if (after + 1 >= earliest) return
  throw new MainstemError('cursor_gone', `entries before ${earliest} are no longer retained`, { earliest })
}
