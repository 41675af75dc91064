import type { Entry, Event, SessionRecord } from '../model/index.ts'
import { toMainstemError } from '../model/index.ts'
import type { WebhookPayload } from '../model/webhook.ts'
import type { StoredDelivery } from '../stores/calls.ts'
import type { Store } from '../stores/store.ts'

/** Larger entries are not sent: the receiver reads them itself. */
const ENTRY_CHARS = 16 * 1024
const TEXT_CHARS = 200

/** What a call tells, from the log: it has no secrets that the log has not. Undefined if the session was deleted. */
export async function payloadOf(
  store: Pick<Store, 'read' | 'record'>,
  delivery: StoredDelivery,
  pageUrl: string,
): Promise<WebhookPayload | undefined> {
  const { session, seq, event: type, at } = delivery
  const record = await store.record(session)
  if (!record) return undefined
  const entry = await entryOf(store, delivery)
  const { principal, agent, title } = record
  const requestId = entry && 'requestId' in entry.event ? entry.event.requestId : undefined
  const isSmall = entry !== undefined && JSON.stringify(entry).length <= ENTRY_CHARS
  return {
    type,
    timestamp: new Date(at).toISOString(),
    data: {
      ...{ session, seq, principal, agent },
      ...(requestId !== undefined && { requestId }),
      ...(title !== undefined && { title }),
      text: `${agent}: ${textOf(entry?.event, type)}`.slice(0, TEXT_CHARS),
      url: linkOf(pageUrl, record, requestId),
      ...(isSmall && { entry }),
    },
  }
}

export function testPayload(now: number, pageUrl: string): WebhookPayload {
  const data = { text: 'Mainstem can call you.', url: `${pageUrl}/` }
  return { type: 'test', timestamp: new Date(now).toISOString(), data }
}

/** The entry; undefined if it was trimmed. */
async function entryOf(
  store: Pick<Store, 'read'>,
  { session, seq }: StoredDelivery,
): Promise<Entry | undefined> {
  try {
    const [entry] = await store.read(session, seq - 1, 1)
    return entry
  } catch (thrown) {
    if (toMainstemError(thrown).code !== 'cursor_gone') throw thrown
    return undefined
  }
}

/** The page of a session, with the request in front. */
function linkOf(pageUrl: string, { id }: SessionRecord, requestId: string | undefined): string {
  const request = requestId === undefined ? '' : `?request=${encodeURIComponent(requestId)}`
  return `${pageUrl}/#/sessions/${id}${request}`
}

function textOf(event: Event | undefined, type: string): string {
  switch (event?.type) {
    case 'turn.completed':
      return `turn ${event.outcome}`
    case 'request.opened':
      return event.title ?? event.questions?.[0]?.text ?? `asks for ${event.tool ?? event.kind}`
    case 'request.resolved':
      return `request ${event.decision}, by ${event.by === 'person' ? (event.principal ?? 'a person') : event.by}`
    default:
      return type
  }
}
