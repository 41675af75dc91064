import type { SessionPlace } from '../log-store/backend.ts'
import type { CommitRun } from '../log-store/commit-run.ts'
import type { JournalRow, QueuedRow } from '../log-store/prepared-batch.ts'
import { integer, type Row } from '../row.ts'
import { toColumn } from './columns.ts'
import type { LeaseProof } from './leases.ts'
import { type Parameters, typed } from './parameters.ts'
import { FRAME_COUNTS, isIntact, sessionSum } from './table-rows.ts'

const CHANGE_TYPES = { ...typed('bigint', 'queued', 'journaled', ...FRAME_COUNTS), recorded: 'boolean' }

/** Prompts that leave the queue, and how many of a session's really were in it. */
export function leavingQueue(
  parameters: Parameters,
  runs: readonly PostgresRun[],
): [parts: string[], left: string] {
  const rows = runs.flatMap((run) =>
    queueOf(run).dequeued.map((turn) => ({ id: toColumn(run.session), turn })),
  )
  if (rows.length === 0) return [[], '0']
  const turns = parameters.rows('x', { id: 'text', turn: 'bigint' }, rows)
  return [
    [`leaving AS (SELECT x.id, x.turn FROM ${turns})`],
    '(SELECT count(*) FROM leaving x JOIN @queued q ON q.turn = x.turn WHERE x.id = s.id AND q.session = s.n)',
  ]
}

/** Adds the rows of new sessions. */
export function begun(parameters: Parameters, runs: readonly PostgresRun[], isFree: string): string {
  const rows = runs
    .filter(({ place }) => place === undefined)
    .map((run) => ({
      ...sessionRow(run),
      owner: run.terms && !run.releases ? toColumn(run.terms.owner) : null,
      at: timeOf(run) ?? 0,
      journaled: journaledOf(run) ?? 0,
    }))
  const columns = {
    ...typed('text', 'id', 'owner'),
    ...typed('bigint', 'fence', 'added'),
    at: 'float8',
    ...CHANGE_TYPES,
  }
  const sum = sessionSum('i', {
    writes: '1',
    inherited: '0',
    head: 'i.added',
    earliest: '1',
    earliest_frame: '1',
  })
  const names = Object.keys(CHANGE_TYPES)
  return `begun AS (INSERT INTO @session (id, fence, owner, writes, head, at, ${names.join(', ')}, sum)
    SELECT i.id, i.fence, i.owner, 1, i.added, i.at, ${names.map((name) => `i.${name}`).join(', ')}, ${sum}
    FROM ${parameters.rows('i', columns, rows)} WHERE true${isFree} ON CONFLICT (id) DO NOTHING RETURNING n, id)`
}

/** Changes the rows of sessions where fence, head and count of writes are the expected ones. */
export function continued(
  parameters: Parameters,
  runs: readonly PostgresRun[],
  isFree: string,
  left: string,
): string {
  const rows = runs.flatMap((run) => {
    const { place, after, releases } = run
    if (!place) return []
    const changed = { releases, at: timeOf(run) ?? null, journaled: journaledOf(run) }
    return { ...sessionRow(run), writes: place.writes, after: after ?? null, ...changed }
  })
  const numbers = typed('bigint', 'fence', 'writes', 'after', 'added')
  const columns = { id: 'text', at: 'float8', releases: 'boolean', ...numbers, ...CHANGE_TYPES }
  const kept = (name: string) => `coalesce(i.${name}, s.${name})`
  const changed = {
    writes: 's.writes + 1',
    head: 's.head + i.added',
    at: kept('at'),
    owner: 'CASE WHEN i.releases THEN NULL ELSE s.owner END',
    queued: `s.queued + i.queued - ${left}`,
    recorded: '(s.recorded OR i.recorded)',
    journaled: kept('journaled'),
    ...Object.fromEntries(FRAME_COUNTS.map((name) => [name, kept(name)])),
  }
  const columnsSet = Object.entries(changed).map(([name, value]) => `${name} = ${value}`)
  return `continued AS (UPDATE @session s SET ${columnsSet.join(', ')}, sum = ${sessionSum('s', changed)}
    FROM ${parameters.rows('i', columns, rows)}
    WHERE s.id = i.id AND s.fence = i.fence AND s.writes = i.writes AND (i.after IS NULL OR s.head = i.after)${isFree}
    AND ${isIntact('s')}
    RETURNING s.n, s.id)`
}

function sessionRow(run: PostgresRun) {
  const counts = run.batches.findLast(({ frameCounts }) => frameCounts)?.frameCounts
  const {
    frames = null,
    mapped = null,
    unmapped = null,
    malformed = null,
    oversized = null,
  } = counts?.coverage ?? {}
  return {
    id: toColumn(run.session),
    fence: run.fenceAfter,
    added: run.added,
    queued: queueOf(run).queued.length,
    recorded: run.batches.some(({ record }) => record),
    last_frame: counts?.frames ?? null,
    ...{ frames, mapped, unmapped, malformed, oversized },
  }
}

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
