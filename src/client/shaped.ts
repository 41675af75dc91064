import type { Applied, Entry, SessionRecord } from '../model/index.ts'
import { MainstemError } from '../model/outcome/mainstem-error.ts'
import type { BegunSession, LiveEntry } from './mainstem-types.ts'
import { fieldOf } from './rest.ts'

/** Checks that the required fields are there, to detect servers that are not Mainstem. */
export function shaped<Shape extends object>(value: unknown, ...names: (keyof Shape & string)[]): Shape {
  if (isShaped<Shape>(value, names)) return value
  throw new MainstemError('protocol_error', 'the response is not that of a Mainstem server; check the URL')
}

function isShaped<Shape>(value: unknown, names: readonly string[]): value is Shape {
  return names.every((name) => fieldOf(value, name) !== undefined)
}

/** A session record of a response. */
export function recordOf(answer: unknown): SessionRecord {
  return shaped<SessionRecord>(answer, 'id', 'status', 'head')
}

/** A session that was created. */
export function begunOf(answer: unknown): BegunSession {
  return shaped<BegunSession>(answer, 'id')
}

/** The number of a turn that was accepted. */
export function turnOf(answer: unknown): number {
  return shaped<{ turn: number }>(answer, 'turn').turn
}

/** A record with when its change applies. */
export function changedOf(answer: unknown): SessionRecord & { applied: Applied } {
  return shaped<SessionRecord & { applied: Applied }>(answer, 'id', 'applied')
}

/** An entry of the stream of all sessions. */
export function liveOf(text: string): LiveEntry {
  const value: unknown = JSON.parse(text)
  return shaped<LiveEntry>(value, 'seq', 'session', 'event', 'cursor')
}

/** An entry of the stream of one session. */
export function entryOf(text: string): Entry {
  const value: unknown = JSON.parse(text)
  return shaped<Entry>(value, 'seq', 'session', 'event')
}
