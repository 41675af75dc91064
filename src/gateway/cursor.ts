import { MainstemError } from '../model/index.ts'

/** The last message a reader has: all of entry `seq`, or its first `part` messages. */
export interface Cursor {
  seq: number
  part: number
}

export const START: Cursor = { seq: 0, part: Number.POSITIVE_INFINITY }

/** `12`, or `12.3` where entry 12 gave several messages. */
export function messageId(seq: number, part: number, parts: number): string {
  return parts === 1 ? `${seq}` : `${seq}.${part}`
}

export function isAfter(cursor: Cursor, seq: number, part: number): boolean {
  return seq > cursor.seq || (seq === cursor.seq && part > cursor.part)
}

const ID = /^(0|[1-9]\d{0,14})(?:\.([1-9]\d{0,8}))?$/

/** What `Last-Event-ID` says; nothing when there is none. */
export function parseCursor(header: string | string[] | undefined): Cursor | undefined {
  if (header === undefined || header === '') return undefined
  const match = typeof header === 'string' ? ID.exec(header) : null
  if (!match) throw badCursor('not an id that this server gave')
  return { seq: Number(match[1]), part: match[2] === undefined ? START.part : Number(match[2]) }
}

export function badCursor(why: string): MainstemError {
  return new MainstemError('invalid_request', `Last-Event-ID: ${why}`, { field: 'Last-Event-ID' })
}
