import { type StoredWebhook, WebhookEvent, WebhookKind } from '../../model/webhook.ts'
import { integer, type Row, text } from '../row.ts'
import type { TableRow } from '../tables.ts'

/** Each word between two spaces, so that one is found with a space at each side. */
const words = (list: readonly string[]) => ` ${list.join(' ')} `

const wordsIn = (row: Row, column: string) => text(row, column).trim().split(' ')

export function webhookRow(webhook: StoredWebhook): TableRow<'webhook'> {
  const { id, principal, kind, at, events, sessions, disabled, ...body } = webhook
  return {
    ...{ id, principal, kind, at, events: words(events) },
    sessions: sessions ? words(sessions) : null,
    disabled: disabled ?? null,
    body: JSON.stringify(body),
  }
}

export function webhookIn(row: Row): StoredWebhook {
  return {
    ...JSON.parse(text(row, 'body')),
    id: text(row, 'id'),
    principal: text(row, 'principal'),
    kind: WebhookKind.parse(row.kind),
    at: integer(row, 'at'),
    events: WebhookEvent.array().parse(wordsIn(row, 'events')),
    ...(row.sessions !== null && { sessions: wordsIn(row, 'sessions') }),
    ...(row.disabled !== null && { disabled: integer(row, 'disabled') }),
  }
}

/** Leaves out those of a newer version, which this one cannot call. */
export function webhooksIn(rows: readonly Row[]): StoredWebhook[] {
  return rows
    .filter(({ kind }) => WebhookKind.safeParse(kind).success)
    .map(webhookIn)
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
}
