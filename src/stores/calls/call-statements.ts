import type { OldDeliveries, WebhookCall } from '../calls.ts'
import type { Row } from '../row.ts'
import type { Sums, TableRow } from '../tables.ts'

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
