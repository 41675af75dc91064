import type { SessionPlace } from '../log-store/backend.ts'
import type { CommitRun } from '../log-store/commit-run.ts'
import type { JournalRow, QueuedRow } from '../log-store/prepared-batch.ts'
import { integer, type Row } from '../row.ts'
import type { LeaseProof } from './held-leases.ts'

/** The last known state of a session. A commit is accepted only if it is still current. */
export interface PostgresPlace extends SessionPlace {
  writes: number
  /** `writes` when the current lease began. */
  inherited: number
  /** The last frame of the journal; unknown if only an older version wrote to it. */
  journaled: number | null
  /** Absent if another server may have written since. */
  lease?: LeaseProof | undefined
  /** When the commit after this place was sent. */
  sentAt?: number
}

/** The place in a row of `session`. */
export function placeIn(row: Row): PostgresPlace {
  const [fence, writes, head] = [integer(row, 'fence'), integer(row, 'writes'), integer(row, 'head')]
  const journaled = row.journaled === null ? null : integer(row, 'journaled')
  return { fence, writes, head, inherited: integer(row, 'inherited'), journaled }
}

export type PostgresRun = CommitRun<PostgresPlace>

/** When the last entry of a run was made. */
export function timeOf({ batches }: PostgresRun): number | undefined {
  return batches.findLast(({ entries }) => entries.length > 0)?.entries.at(-1)?.at
}

/** The frames of all batches, each row with the last frame of the one before. */
export function journalOf({ place, batches }: PostgresRun): JournalRow[] {
  let previous = place ? place.journaled : 0
  return batches.flatMap(({ journal }) => {
    if (!journal) return []
    const row = { ...journal, previous }
    previous = journal.last
    return row
  })
}

/** The last frame of a run; null if it has none. */
export function journaledOf({ batches }: PostgresRun): number | null {
  return batches.findLast(({ journal }) => journal)?.journal?.last ?? null
}

/** The changes of the queue, without prompts that were added and removed in the same run. */
export function queueOf({ batches }: PostgresRun): { queued: QueuedRow[]; dequeued: number[] } {
  const queued = new Map<number, QueuedRow>()
  const dequeued = new Set<number>()
  for (const batch of batches) {
    for (const row of batch.queued) queued.set(row.turn, row)
    for (const turn of batch.dequeued) if (!queued.delete(turn)) dequeued.add(turn)
  }
  return { queued: [...queued.values()], dequeued: [...dequeued] }
}
