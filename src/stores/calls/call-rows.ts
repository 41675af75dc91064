import { Waiters } from '../../model/waiters.ts'
import { DeliveryStatus, WebhookEvent } from '../../model/webhook.ts'
import type { Attempt, CallStore, DeliveryQuery, OldDeliveries, StoredDelivery } from '../calls.ts'
import { damaged } from '../refusals.ts'
import { integer, type Row, text } from '../row.ts'
import { damagedPart } from '../tables.ts'
import type { CallState, CallTables } from './call-statements.ts'

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

  /** To call after a commit with calls. */
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
