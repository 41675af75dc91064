import type { DeliveryStatus, NewWebhook, Webhook, WebhookDelivery } from '../model/webhook.types.ts'
import { searchOf } from './paths.ts'
import { shaped } from './shaped.ts'
import type { ClientConnection } from './transports/connection.ts'

/** A webhook that was added. */
export interface AddedWebhook {
  /** The webhook. */
  webhook: Webhook
  /** Signs its calls. It is shown once. */
  secret?: string
}

/** The result of a test call. */
export interface WebhookTest {
  /** Whether the receiver accepted it. */
  ok: boolean
  /** What it answered, or why it did not. */
  note: string
}

/** Which calls to list. */
export interface DeliverySearch {
  /** Only these. */
  status?: DeliveryStatus
  /** At most this many; 100 by default. */
  limit?: number
}

const pathOf = (id: string, ...more: readonly string[]) =>
  ['/v1/webhooks', ...[id, ...more].map(encodeURIComponent)].join('/')

/** The webhooks of a principal. */
export class WebhookClient {
  readonly #connection: ClientConnection

  constructor(connection: ClientConnection) {
    this.#connection = connection
  }

  /** Lists the webhooks, the oldest first. */
  async list(): Promise<readonly Webhook[]> {
    return shaped<{ webhooks: Webhook[] }>(await this.#connection.json('GET /v1/webhooks'), 'webhooks')
      .webhooks
  }

  /** Adds a webhook. Keep its secret: it is not shown again. */
  async add(body: NewWebhook): Promise<AddedWebhook> {
    return shaped<AddedWebhook>(await this.#connection.json('POST /v1/webhooks', { body }), 'webhook')
  }

  /** Removes a webhook, with the calls that wait. */
  async remove(id: string): Promise<void> {
    await this.#connection.json(`DELETE ${pathOf(id)}`)
  }

  /** Replaces the secret. The one before signs too, for a day. */
  async rotate(id: string): Promise<string> {
    return shaped<{ secret: string }>(await this.#connection.json(`POST ${pathOf(id, 'secret')}`), 'secret')
      .secret
  }

  /** Calls the webhook once, with a message that tells of nothing. */
  async test(id: string): Promise<WebhookTest> {
    return shaped<WebhookTest>(await this.#connection.json(`POST ${pathOf(id, 'test')}`), 'ok', 'note')
  }

  /** Lists calls of a webhook, the newest first. */
  async deliveries(id: string, { status, limit }: DeliverySearch = {}): Promise<readonly WebhookDelivery[]> {
    const path = `GET ${pathOf(id, 'deliveries')}?${searchOf({ status, limit })}`
    return shaped<{ deliveries: WebhookDelivery[] }>(await this.#connection.json(path), 'deliveries')
      .deliveries
  }

  /** Makes a call again, with all its attempts. */
  async retry(id: string, delivery: string): Promise<void> {
    await this.#connection.json(`POST ${pathOf(id, 'deliveries', delivery, 'retry')}`)
  }
}
