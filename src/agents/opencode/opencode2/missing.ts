import type { Emitted } from '../../agent.ts'
import { count, type Fields } from '../../kit/fields.ts'
import type { Thread } from './thread.ts'

/** A hole of one event is internal: the usage of a title or a compaction. */
const INTERNAL = 1

/** Whether the durable event was decoded before: its number never decreases. */
export function isRepeated({ seq: last }: Thread, durable: Fields): boolean {
  const seq = count(durable, 'seq')
  return seq !== undefined && last !== undefined && seq <= last
}

/** Reports durable events that were never received. */
export function missingBefore(thread: Thread, durable: Fields): Emitted[] {
  const seq = count(durable, 'seq')
  const last = thread.seq
  if (seq === undefined) return []
  thread.seq = seq
  const missing = last === undefined ? 0 : seq - last - 1
  if (last === undefined || missing <= INTERNAL) return []
  const message = `${missing} events of session ${thread.id} are missing, from number ${last + 1} to ${seq - 1}`
  return [eventsMissing(message, { session: thread.id, from: last + 1, to: seq - 1 })]
}

export function eventsMissing(message: string, data: Fields): Emitted {
  return { type: 'notice.raised', level: 'warning', code: 'events_missing', message, data }
}
