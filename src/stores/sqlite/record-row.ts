import type { Coverage, SessionRecord } from '../../model/index.ts'
import { type AcceptedPrompt, isWhole } from '../../model/queue-preview.ts'
import { checksum, firstDamaged, headsOf, matches } from '../checksum.ts'
import { damaged } from '../damaged.ts'
import { BETWEEN } from '../log-rows.ts'
import { bytes, integer, type Row, text } from '../row.ts'
import type { FrameCounts } from '../store.ts'
import { upcastRecord } from '../upcast.ts'
import { areCountersIntact } from './counters.ts'

/** The queue in order. Read with the record, so that both are from the same commit. */
const queue = (columns: string) =>
  `(SELECT ${columns} FROM (SELECT turn, sum, body FROM queued WHERE session = s.n ORDER BY turn))`

/** The last row of a log, and the end that the same commit recorded in `tail`. */
export const TAIL = `l.last AS logHead, l.at AS logAt, t.head, t.at, t.sum AS tailSum`
export const TAIL_TABLES = `LEFT JOIN tail t ON t.session = s.n LEFT JOIN log l
  ON l.session = s.n AND l.first = (SELECT max(first) FROM log WHERE session = s.n)`

export const RECORD = `SELECT s.n, s.id, s.principal, s.status, s.asking, s.record, s.sum,
  s.earliest, s.earliest_frame AS earliestFrame, s.queued, s.edge_sum AS counterSum,
  (SELECT min(first) FROM log WHERE session = s.n) AS firstKept,
  ${queue(headsOf('turn'))} AS queueHeads, ${queue('count(*)')} AS waiting,
  ${queue(`CAST(group_concat(body, '${BETWEEN}') AS BLOB)`)} AS queue, ${TAIL},
  h.last AS lastFrame, h.frames, h.mapped, h.unmapped, h.malformed, h.oversized, h.sum AS heardSum
  FROM session s LEFT JOIN heard h ON h.session = s.n ${TAIL_TABLES}`

const HEARD = ['n', 'lastFrame', 'frames', 'mapped', 'unmapped', 'malformed', 'oversized']

/** Reads the record from a row. Throws if any part is damaged. */
export function toRecord(row: Row): SessionRecord {
  checkRecord(row)
  const state = upcastRecord(JSON.parse(text(row, 'record')))
  const [earliest, earliestFrame] = [integer(row, 'earliest'), integer(row, 'earliestFrame')]
  return {
    ...state,
    queue: queueIn(row),
    ...endOf(row),
    ...(row.lastFrame !== null && frameCountsIn(row)),
    ...(earliest > 1 && { earliest }),
    ...(earliestFrame > 1 && { earliestFrame }),
  }
}

/** Throws if any part of the row is damaged. */
export function checkRecord(row: Row): void {
  const what = damagedPart(row)
  if (what !== undefined) throw damaged(what, { session: String(row.id) })
}

export const QUEUED = `SELECT q.session, q.turn, q.body, q.sum, q.whole, q.whole_sum AS wholeSum
  FROM queued q JOIN session s ON s.n = q.session WHERE s.id = ? AND q.turn = ?`

/** Reads a queued prompt with its whole text and its images. */
export function toPrompt(row: Row, session: string): AcceptedPrompt {
  const isIntact = (sum: unknown, body: string) =>
    matches(sum, () => checksum([integer(row, 'session'), integer(row, 'turn')], body))
  const body = text(row, 'body')
  if (!isIntact(row.sum, body)) throw damaged('the queue', { session })
  if (isWhole(JSON.parse(body))) return JSON.parse(body)
  if (row.whole === null || !isIntact(row.wholeSum, text(row, 'whole')))
    throw damaged('the queue', { session })
  return JSON.parse(text(row, 'whole'))
}

/** The size of what `toRecord` loads. */
export function recordBytes(row: Row): number {
  return text(row, 'record').length + (row.queue === null ? 0 : bytes(row, 'queue').length)
}

/** Reads the end of a log. Throws if the log ends elsewhere: entries are missing, or seqs would be assigned again. */
export function endOf(row: Row): Pick<SessionRecord, 'head' | 'updatedAt'> {
  if (!isTailIntact(row)) throw damaged('the end of the log', { session: String(row.id) })
  if (row.head !== null) return { head: integer(row, 'head'), updatedAt: integer(row, 'at') }
  if (row.logHead === null) return { head: 0, updatedAt: 0 }
  return { head: integer(row, 'logHead'), updatedAt: integer(row, 'logAt') }
}

export function recordSum(
  n: number,
  asking: number,
  texts: readonly [id: string, principal: string, status: string, record: string],
): number {
  return checksum([n, asking], ...texts)
}

function damagedPart(row: Row): string | undefined {
  const isRecordIntact = matches(row.sum, () =>
    recordSum(integer(row, 'n'), integer(row, 'asking'), [
      text(row, 'id'),
      text(row, 'principal'),
      text(row, 'status'),
      text(row, 'record'),
    ]),
  )
  if (!isRecordIntact) return 'the record'
  const isFirstKept = row.firstKept === null || row.firstKept === row.earliest
  if (!areCountersIntact(row) || !isFirstKept) return 'the beginning of the log'
  const isHeardIntact = matches(row.heardSum, () => checksum(HEARD.map((column) => integer(row, column))))
  if (!isHeardIntact) return 'the coverage'
  return isQueueIntact(row) ? undefined : 'the queue'
}

function isTailIntact(row: Row): boolean {
  if (row.head === null) return true
  const sum = () => checksum([integer(row, 'n'), integer(row, 'head'), integer(row, 'at')])
  return row.logHead === row.head && matches(row.tailSum, sum)
}

function isQueueIntact(row: Row): boolean {
  if (row.counterSum !== null && row.waiting !== row.queued) return false
  if (row.queue === null) return true
  const n = integer(row, 'n')
  return !firstDamaged(bytes(row, 'queue'), text(row, 'queueHeads'), BETWEEN.length, (turn) => [n, turn])
}

function queueIn(row: Row): SessionRecord['queue'] {
  if (row.queue === null) return []
  const { buffer, byteOffset, length } = bytes(row, 'queue')
  return JSON.parse(`[${Buffer.from(buffer, byteOffset, length).toString()}]`)
}

export function frameCountsIn(row: Row): FrameCounts {
  const count = (column: keyof Coverage) => integer(row, column)
  return {
    frames: integer(row, 'lastFrame'),
    coverage: {
      frames: count('frames'),
      mapped: count('mapped'),
      unmapped: count('unmapped'),
      malformed: count('malformed'),
      oversized: count('oversized'),
    },
  }
}
