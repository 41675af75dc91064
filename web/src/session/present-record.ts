import type { SessionRecord, Timeline } from 'mainstem/client'

/**
 * The record of a session, corrected by the log where that is ahead. A server that stops sends the end of a turn, and
 * cannot be asked for the record afterwards.
 */
export function presentRecord(
  record: SessionRecord | undefined,
  { items }: Pick<Timeline, 'items'>,
): SessionRecord | undefined {
  const last = items.findLast(({ kind }) => kind === 'outcome' || kind === 'prompt')
  if (!record || last?.kind !== 'outcome' || last.seq <= record.head) return record
  return { ...record, status: 'idle', lastOutcome: last.completed.outcome, requests: [] }
}
