import { type CallSelection, type CallState, type CallTables, callRow } from '../calls/call-statements.ts'
import type { OldDeliveries, WebhookCall } from '../calls.ts'
import type { Row } from '../row.ts'
import type { TableRow } from '../tables.ts'

type DeliveryRow = TableRow<'delivery'>

/** Whom calls are for. */
export interface Recipients {
  /** The webhooks that want this call. */
  wanting(call: WebhookCall): Iterable<string>
  has(webhook: string): boolean
}

/** The calls of webhooks in memory, where nothing is damaged. */
export class MemoryCalls implements CallTables {
  readonly sums = { delivery: {} }
  readonly #rows = new Map<string, DeliveryRow>()
  readonly #recipients: Recipients

  constructor(recipients: Recipients) {
    this.#recipients = recipients
  }

  /** Adds the rows of a commit. */
  add(calls: readonly WebhookCall[]): void {
    for (const call of calls) {
      for (const webhook of this.#recipients.wanting(call)) {
        const row = { webhook, ...callRow(call) }
        this.#rows.set(keyOf(row), row)
      }
    }
  }

  removeOf(session: string): void {
    for (const [key, row] of this.#rows) if (row.session === session) this.#rows.delete(key)
  }

  async due(): Promise<Row[]> {
    const first = new Map<string, number>()
    for (const { webhook, due } of this.#rows.values())
      if (due !== null) first.set(webhook, Math.min(due, first.get(webhook) ?? due))
    return [...first].map(([webhook, due]) => ({ webhook, due }))
  }

  async rows(selection: CallSelection): Promise<DeliveryRow[]> {
    return this.#select(selection)
  }

  async change(
    selection: CallSelection,
    next: (before: Row) => CallState | undefined,
  ): Promise<readonly Row[]> {
    return this.#select(selection).flatMap((before) => {
      const state = next({ ...before })
      if (!state) return []
      const after = { ...before, ...state }
      this.#rows.set(keyOf(after), after)
      return [after]
    })
  }

  async forget({ before, kept }: OldDeliveries): Promise<void> {
    const places = new Map<string, number>()
    for (const row of [...this.#rows.values()].sort((a, b) => b.changed - a.changed)) {
      const place = (places.get(row.webhook) ?? 0) + (row.due === null ? 1 : 0)
      places.set(row.webhook, place)
      const isOld = row.due === null && (row.changed < before || place > kept)
      if (isOld || !this.#recipients.has(row.webhook)) this.#rows.delete(keyOf(row))
    }
  }

  #select({ webhook, id, status, dueBy, limit }: CallSelection): DeliveryRow[] {
    const found = [...this.#rows.values()].filter(
      (row) =>
        row.webhook === webhook &&
        (id ?? row.id) === row.id &&
        (status ?? row.status) === row.status &&
        (dueBy === undefined || (row.due !== null && row.due <= dueBy)),
    )
    const ordered =
      dueBy === undefined
        ? found.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
        : found.sort((a, b) => Number(a.due) - Number(b.due) || a.at - b.at)
    return ordered.slice(0, limit)
  }
}

const keyOf = ({ webhook, id }: Pick<DeliveryRow, 'webhook' | 'id'>) => `${webhook} ${id}`
