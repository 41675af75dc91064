import * as z from 'zod'
import { Entry } from './entry.ts'
import { SessionId } from './ids.ts'
import type * as types from './webhook.types.ts'

/** What a webhook is called for. */
export const WebhookEvent = z.enum(['turn.completed', 'request.opened', 'request.resolved'])
export type WebhookEvent = types.WebhookEvent

const CALLED_FOR: ReadonlySet<string> = new Set(WebhookEvent.options)

/** Whether webhooks are called for events of this type. */
export function isCalledFor(type: string): type is WebhookEvent {
  return CALLED_FOR.has(type)
}

/**
 * How a webhook is called: `webhook` posts JSON with a signature of Standard Webhooks, `ntfy` publishes to a topic of
 * ntfy, and `push` notifies a browser.
 */
export const WebhookKind = z.enum(['webhook', 'ntfy', 'push'])
export type WebhookKind = types.WebhookKind

/** Somebody to call when a turn ends, and when a request is opened or resolved. Never has a secret. */
export const Webhook = z.strictObject({
  id: z.string().describe('Identifies the webhook.'),
  kind: WebhookKind.describe('How it is called.'),
  target: z.string().describe('Whom it calls: a URL, or the host of a push service.'),
  name: z.string().optional().describe('What a person calls it.'),
  events: z.array(WebhookEvent).describe('What it is called for.'),
  sessions: z.array(z.string()).optional().describe('Only for these sessions; absent for all.'),
  createdAt: z.number().describe('When it was added, in milliseconds since 1970.'),
  disabled: z
    .boolean()
    .optional()
    .describe('True after the receiver answered 410: it is not called any more.'),
})
export type Webhook = types.Webhook

/** Whether a call still waits, was accepted, or has failed for good. */
export const DeliveryStatus = z.enum(['pending', 'delivered', 'dead'])
export type DeliveryStatus = types.DeliveryStatus

/** One call of a webhook for one entry. */
export const WebhookDelivery = z.strictObject({
  id: z.string().describe('The id of the message, the same for every attempt: `<session>.<seq>`.'),
  session: z.string().describe('The session of the entry.'),
  event: WebhookEvent.describe('What it tells of.'),
  at: z.number().describe('When the entry was made, in milliseconds since 1970.'),
  status: DeliveryStatus.describe('Whether it waits, was accepted, or has failed for good.'),
  attempts: z.number().describe('How often it was tried.'),
  changedAt: z.number().describe('When it was tried last, or added, in milliseconds since 1970.'),
  due: z.number().optional().describe('When it is tried next, in milliseconds since 1970.'),
  note: z.string().optional().describe('What the last attempt ended with.'),
})
export type WebhookDelivery = types.WebhookDelivery

/** The keys of the subscription of a browser, in base64url. The page creates them, those of the sender too. */
export const PushKeys = z.strictObject({
  p256dh: z.string().max(200).describe('The public key of the browser.'),
  auth: z.string().max(100).describe('The secret that the browser shares with its senders.'),
  publicKey: z.string().max(200).describe('The public key of the sender (VAPID), an uncompressed point.'),
  privateKey: z.string().max(100).describe('The private key of the sender.'),
})
export type PushKeys = types.PushKeys

/** A webhook to add. */
export const NewWebhook = z.strictObject({
  kind: WebhookKind.optional().describe('How it is called; `webhook` by default.'),
  url: z.string().max(2_000).describe('Where it is.'),
  name: z.string().min(1).max(100).optional().describe('What a person calls it.'),
  events: z
    .array(WebhookEvent)
    .min(1)
    .optional()
    .describe('What it is called for; all by default, for people only what they act on.'),
  sessions: z
    .array(SessionId)
    .min(1)
    .max(100)
    .optional()
    .describe('Only for these sessions; absent for all.'),
  secret: z
    .string()
    .max(200)
    .optional()
    .describe(
      'Signs the calls, as `whsec_` and base64; made by default. Of `ntfy` it is the access token, if any.',
    ),
  push: PushKeys.optional().describe('The keys of a browser, for `push`.'),
})
export type NewWebhook = types.NewWebhook

/** What a call tells. */
export const WebhookData = z.strictObject({
  session: z.string().optional().describe('The session; absent of a test.'),
  seq: z.number().optional().describe('The number of the entry in its session.'),
  requestId: z.string().optional().describe('The request, of the two events of requests.'),
  principal: z.string().optional().describe('The owner of the session.'),
  agent: z.string().optional().describe('The agent.'),
  title: z.string().optional().describe('The title of the session.'),
  text: z.string().describe('One line for people.'),
  url: z.string().describe('The page of the session, and of the request.'),
  entry: Entry.optional().describe('The entry, unless it is large or was trimmed since.'),
})
export type WebhookData = types.WebhookData

/** What a webhook is sent, as JSON. */
export const WebhookPayload = z.strictObject({
  type: z
    .enum(['turn.completed', 'request.opened', 'request.resolved', 'test'])
    .describe('What happened; `test` if nothing did.'),
  timestamp: z.string().describe('When it happened, as ISO 8601.'),
  data: WebhookData.describe('What it happened to.'),
})
export type WebhookPayload = types.WebhookPayload

/** A webhook as the store has it. */
export interface StoredWebhook extends Omit<Webhook, 'target' | 'createdAt' | 'disabled'> {
  principal: string
  /** When it was added, by the clock of the store. */
  at: number
  /** When its receiver said that it is gone. */
  disabled?: number
  /** Where it is. */
  url: string
  /** The secrets that sign its calls, the newest first. An older one signs until the time that it has. */
  secrets: readonly WebhookSecret[]
  /** The keys of a browser that is notified. */
  push?: PushKeys
}

/** A secret of a webhook, as `whsec_` and base64. */
export interface WebhookSecret {
  secret: string
  until?: number
}
