import { isDamaged, SessionRecord } from '../../model/index.ts'
import { type AcceptedPrompt, isWhole } from '../../model/session/queue-preview.ts'
import { toDailyUsage } from '../daily-usage.ts'
import { RECORD_BYTES } from '../read-bytes.ts'
import { receiptId } from '../receipts.ts'
import { damaged } from '../refusals.ts'
import { integer, type Row, text } from '../row.ts'
import type { DailyUsage, FrameCounts, Receipt, SessionQuery } from '../store.ts'
import { damagedPart, type Sums } from '../tables.ts'
import { upcastRecord } from '../upcast.ts'
import { headIn } from './log-reads.ts'
import type { RowSource, SessionRows } from './rows.ts'

const STATUSES = SessionRecord.shape.status.options

/** Reads records, queues, receipts, and figures of all sessions from the rows of a database. Refuses damaged ones. */
export class RecordReads {
  readonly #rows: RowSource

  constructor(rows: RowSource) {
    this.#rows = rows
  }

  async record(session: string): Promise<SessionRecord | undefined> {
    const found = await this.#rows.session(session)
    return found && toRecord(this.#rows.sums, found)
  }

  /** Skips damaged records, so that they do not hide the others. Loading one by id reports the damage. */
  async records(query: SessionQuery): Promise<readonly SessionRecord[]> {
    const { limit, maxBytes = RECORD_BYTES } = query
    const found: SessionRecord[] = []
    let below: number | undefined
    let size = 0
    for (;;) {
      const page = { ...query, limit: limit - found.length, below, room: maxBytes - size }
      const all = page.limit > 0 ? await this.#rows.sessions(page) : []
      if (all.length === 0) return found
      for (const one of all) {
        below = integer(one.row, 'n')
        const record = this.#intactRecord(one)
        if (!record) continue
        size += sizeOf(one)
        if (size > maxBytes && found.length > 0) return found
        found.push(record)
      }
    }
  }

  async queuedPrompt(session: string, turn: number): Promise<AcceptedPrompt | undefined> {
    const row = await this.#rows.queued(session, turn)
    if (!row) return undefined
    if (damagedPart(this.#rows.sums.queued, row) !== undefined) throw damaged('the queue', { session })
    const prompt = JSON.parse(text(row, 'body'))
    if (isWhole(prompt)) return prompt
    if (row.whole === null) throw damaged('the queue', { session })
    return JSON.parse(text(row, 'whole'))
  }

  async receipt(scope: string, key: string): Promise<Receipt | undefined> {
    const row = await this.#rows.receipt(receiptId(scope, key))
    if (!row) return undefined
    const what = damagedPart(this.#rows.sums.receipt, row)
    if (what !== undefined) throw damaged(what, { session: text(row, 'session') })
    return JSON.parse(text(row, 'body'))
  }

  async counts(): Promise<Map<SessionRecord['status'], number>> {
    const rows = await this.#rows.counts()
    const counted = new Map(rows.map((row) => [text(row, 'status'), integer(row, 'sessions')]))
    return new Map(
      STATUSES.flatMap((status) => {
        const count = counted.get(status)
        return count === undefined ? [] : [[status, count] as const]
      }),
    )
  }

  async nativeOwners(native: string): Promise<string[]> {
    return (await this.#rows.natives(native)).map((row) => text(row, 'principal')).sort()
  }

  async dailyUsage(principal?: string): Promise<DailyUsage[]> {
    return (await this.#rows.spent(principal)).map(toDailyUsage)
  }

  #intactRecord(rows: SessionRows): SessionRecord | undefined {
    try {
      return toRecord(this.#rows.sums, rows)
    } catch (thrown) {
      // `record` reports the reason.
      if (isDamaged(thrown, text(rows.row, 'session')) || thrown instanceof SyntaxError) return undefined
      throw thrown
    }
  }
}

function toRecord(sums: Sums, { row, queue }: SessionRows): SessionRecord | undefined {
  const session = text(row, 'session')
  const head = headIn(sums, session, row)
  if ((row.record ?? null) === null) return undefined
  const [earliest, earliestFrame] = [integer(row, 'earliest'), integer(row, 'earliest_frame')]
  const isElsewhere = typeof row.log_first === 'number' && row.log_first !== earliest
  if (isElsewhere) throw damaged('the beginning of the log', { session })
  const isQueueIntact = queue.every((one) => damagedPart(sums.queued, one) === undefined)
  if (queue.length !== row.queued || !isQueueIntact) throw damaged('the queue', { session })
  return {
    ...upcastRecord(JSON.parse(text(row, 'record'))),
    queue: queue.map((one) => JSON.parse(text(one, 'body'))),
    head,
    updatedAt: integer(row, 'at'),
    ...((row.last_frame ?? null) !== null && frameCountsIn(row)),
    ...(earliest > 1 && { earliest }),
    ...(earliestFrame > 1 && { earliestFrame }),
  }
}

function sizeOf({ row, queue }: SessionRows): number {
  return queue.reduce((size, one) => size + text(one, 'body').length, text(row, 'record').length)
}

function frameCountsIn(row: Row): FrameCounts {
  const coverage = {
    frames: integer(row, 'frames'),
    mapped: integer(row, 'mapped'),
    unmapped: integer(row, 'unmapped'),
    malformed: integer(row, 'malformed'),
    oversized: integer(row, 'oversized'),
  }
  return { frames: integer(row, 'last_frame'), coverage }
}
