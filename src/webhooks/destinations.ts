import { MainstemError } from '../model/index.ts'
import type { StoredWebhook, WebhookKind, WebhookPayload } from '../model/webhook.ts'
import { hostOf } from './address-guard.ts'
import type { Outgoing } from './post.ts'
import { encrypted, vapidHeader } from './push.ts'
import { signedHeaders } from './signature.ts'

/** One message to a webhook. */
export interface WebhookMessage {
  id: string
  payload: WebhookPayload
  /** The clock of the store, in milliseconds. */
  now: number
  /** Whom a push service writes to if something is wrong: a URL. */
  contact: string
}

/** The longest that a push service keeps a notification for a device that is off: a day. */
const PUSH_SECONDS = 86_400

/** The request of each kind. */
const REQUESTS: Readonly<Record<WebhookKind, (webhook: StoredWebhook, message: WebhookMessage) => Outgoing>> =
  {
    webhook({ url, secrets }, { id, payload, now }) {
      const body = JSON.stringify(payload)
      const headers = { 'content-type': 'application/json', ...signedHeaders({ id, body }, secrets, now) }
      return { url: new URL(url), headers, body }
    },

    ntfy({ url: topicUrl, secrets: [token] }, { payload: { type, data } }) {
      const url = new URL(topicUrl)
      const topic = decodeURIComponent(url.pathname.slice(url.pathname.lastIndexOf('/') + 1))
      url.pathname = url.pathname.slice(0, url.pathname.lastIndexOf('/') + 1)
      const { title = 'Mainstem', text, url: click } = data
      const priority = type === 'request.opened' ? { priority: 4 } : {}
      return {
        url,
        headers: {
          'content-type': 'application/json',
          ...(token && { authorization: `Bearer ${token.secret}` }),
        },
        body: JSON.stringify({ topic, title, message: text, click, ...priority }),
      }
    },

    push({ url: endpoint, push }, { id, payload: { type, data }, now, contact }) {
      if (!push) throw new MainstemError('storage_failed', 'the webhook has no keys')
      const url = new URL(endpoint)
      const { title = 'Mainstem', text, url: link } = data
      const isUrgent = type === 'request.opened'
      return {
        url,
        headers: {
          'content-type': 'application/octet-stream',
          'content-encoding': 'aes128gcm',
          ttl: `${PUSH_SECONDS}`,
          urgency: isUrgent ? 'high' : 'normal',
          authorization: vapidHeader(url, push, contact, now),
        },
        body: encrypted(JSON.stringify({ id, title, body: text, url: link }), push),
      }
    },
  }

export const requestTo = (webhook: StoredWebhook, message: WebhookMessage): Outgoing =>
  REQUESTS[webhook.kind](webhook, message)

/** Whether a person is called, who only wants to know what to act on. */
export const isForPeople = (kind: WebhookKind): boolean => kind !== 'webhook'

/** Whom a webhook calls, without what is secret in its URL: a push service knows a device by it. */
export const targetOf = ({ kind, url }: Pick<StoredWebhook, 'kind' | 'url'>): string =>
  kind === 'push' ? hostOf(new URL(url)) : url
