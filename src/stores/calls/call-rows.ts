import { Waiters } from '../../model/waiters.ts'
import { DeliveryStatus, WebhookEvent } from '../../model/webhook.ts'
import type {
  Attempt,
  CallStore,
  DeliveryQuery,
  OldDeliveries,
  StoredDelivery,
  WebhookCall,
} from '../calls.ts'
import { damaged } from '../refusals.ts'
import { integer, type Row, text } from '../row.ts'
import { damagedPart, type Sums, type TableRow } from '../tables.ts'

/** A call before the database knows its webhooks. */
export type CallRow = Omit<TableRow<'delivery'>, 'webhook'>

export function callRow({ session, seq, principal, type, at }: WebhookCall): CallRow {
  const state = { status: 'pending', attempts: 0, changed: at, due: 0, note: null }
  return { id: `${session}.${seq}`, session, principal, type, at, ...state }
}

/**
 * The condition of the webhooks `w` that are called for a row `g`. A webhook gets what its principal may read: its own
 * sessions, and those that it has grants for. `find` is the function that finds a text in another.
 */
export const wants = (find: string, g: (column: string) => string) => `w.disabled IS NULL
  AND (w.principal = ${g('principal')}
    OR w.principal IN (SELECT p.grantee FROM @permit p WHERE p.principal = ${g('principal')}))
  AND ${find}(w.events, ' ' || ${g('type')} || ' ') > 0
  AND (w.sessions IS NULL OR ${find}(w.sessions, ' ' || ${g('session')} || ' ') > 0)`

/** Which calls to read or to change, in this order. */
export interface CallSelection {
  webhook: string
  id?: string
  status?: string
  /** Only those that are due by then, the first to come first; otherwise the newest first. */
  dueBy?: number
  limit: number
}

/** The condition and the order of a selection; `place` takes a value and gives its place in the statement. */
export function callClauses(
  { webhook, id, status, dueBy, limit }: CallSelection,
  place: (value: string | number) => string,
): { where: string; order: string } {
  const conditions = [
    `t.webhook = ${place(webhook)}`,
    id !== undefined && `t.id = ${place(id)}`,
    status !== undefined && `t.status = ${place(status)}`,
    dueBy !== undefined && `t.due <= ${place(dueBy)}`,
  ].filter((one) => one !== false)
  const by = dueBy === undefined ? 't.at DESC, t.id DESC' : 't.due, t.at'
  return { where: `WHERE ${conditions.join(' AND ')}`, order: `ORDER BY ${by} LIMIT ${place(limit)}` }
}

/** One step in the index for each webhook. */
export const FIRST_DUE = `SELECT f.webhook, f.due FROM (SELECT w.id AS webhook,
  (SELECT min(t.due) FROM @delivery t WHERE t.webhook = w.id AND t.due IS NOT NULL) AS due
  FROM @webhook w WHERE w.disabled IS NULL) f WHERE f.due IS NOT NULL`

/** Removes finished calls beyond the limits, and those of removed webhooks; `place` as in `callClauses`. */
export const forgetCalls = (
  { before, kept }: OldDeliveries,
  place: (value: number) => string,
) => `DELETE FROM @delivery WHERE webhook NOT IN (SELECT id FROM @webhook)
  OR (due IS NULL AND changed < ${place(before)}) OR (webhook, id) IN (SELECT o.webhook, o.id FROM
    (SELECT webhook, id, row_number() OVER (PARTITION BY webhook ORDER BY changed DESC) AS place FROM @delivery
      WHERE due IS NULL) o WHERE o.place > ${place(kept)})`

/** The calls of webhooks in one database. */
export interface CallTables {
  readonly sums: Pick<Sums, 'delivery'>
  /** For each webhook with unfinished calls the first of them. */
  due(): Promise<readonly Row[]>
  rows(selection: CallSelection): Promise<readonly Row[]>
  /**
   * Replaces the columns that `next` returns in each of the rows, in one transaction, and returns the rows that it changed.
   * Leaves out those that another transaction changes at this moment.
   */
  change(selection: CallSelection, next: (before: Row) => CallState | undefined): Promise<readonly Row[]>
  forget(old: OldDeliveries): Promise<void>
}

/** What changes of a call. */
export type CallState = Pick<TableRow<'delivery'>, 'status' | 'attempts' | 'changed' | 'due' | 'note'>

/** The calls of webhooks, over the rows of any database. */
export class CallRows implements CallStore {
  readonly #tables: CallTables
  readonly #waiting = new Waiters()

  constructor(tables: CallTables) {
    this.#tables = tables
  }

  async due(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#tables.due()
    return new Map(rows.map((row) => [text(row, 'webhook'), integer(row, 'due')]))
  }

  async take(
    webhook: string,
    { now, until, limit }: { now: number; until: number; limit: number },
  ): Promise<readonly StoredDelivery[]> {
    const rows = await this.#tables.change({ webhook, dueBy: now, limit }, (row) => {
      this.#check(row)
      return { ...stateIn(row), attempts: integer(row, 'attempts') + 1, due: until }
    })
    return rows.map(deliveryIn)
  }

  async settle({ webhook, id, attempts }: StoredDelivery, attempt: Attempt): Promise<boolean> {
    const { status, at: changed, due = null, note = null } = attempt
    const rows = await this.#tables.change({ webhook, id, status: 'pending', limit: 1 }, (row) =>
      row.attempts === attempts ? { status, attempts, changed, due, note } : undefined,
    )
    return rows.length > 0
  }

  async retry(webhook: string, id: string, now: number): Promise<boolean> {
    const rows = await this.#tables.change({ webhook, id, limit: 1 }, (row) =>
      row.status === 'pending'
        ? { ...stateIn(row), due: 0 }
        : { status: 'pending', attempts: 0, changed: now, due: 0, note: null },
    )
    this.wake()
    return rows.length > 0
  }

  async list({ webhook, status, limit }: DeliveryQuery): Promise<readonly StoredDelivery[]> {
    const rows = await this.#tables.rows({ webhook, ...(status && { status }), limit })
    for (const row of rows) this.#check(row)
    return rows.map(deliveryIn)
  }

  forget(old: OldDeliveries): Promise<void> {
    return this.#tables.forget(old)
  }

  changed(signal: AbortSignal): Promise<void> {
    return this.#waiting.wait(signal)
  }

  /** WebhookCall after a commit with calls. */
  wake(): void {
    this.#waiting.wake()
  }

  #check(row: Row): void {
    const what = damagedPart(this.#tables.sums.delivery, row)
    if (what !== undefined) throw damaged(what, { session: text(row, 'session') })
  }
}

function stateIn(row: Row): CallState {
  return {
    status: text(row, 'status'),
    attempts: integer(row, 'attempts'),
    changed: integer(row, 'changed'),
    due: row.due === null ? null : integer(row, 'due'),
    note: row.note === null ? null : text(row, 'note'),
  }
}

function deliveryIn(row: Row): StoredDelivery {
  const { due, note, status, ...state } = stateIn(row)
  const id = text(row, 'id')
  return {
    id,
    webhook: text(row, 'webhook'),
    session: text(row, 'session'),
    seq: Number(id.slice(id.lastIndexOf('.') + 1)),
    principal: text(row, 'principal'),
    event: WebhookEvent.parse(row.type),
    at: integer(row, 'at'),
    status: DeliveryStatus.parse(status),
    attempts: state.attempts,
    changedAt: state.changed,
    ...(due !== null && { due }),
    ...(note !== null && { note }),
  }
}
