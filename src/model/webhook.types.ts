// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { Entry } from './entry.types.ts'
import type { SessionId } from './ids.types.ts'

/** What a webhook is called for. */
export type WebhookEvent = 'turn.completed' | 'request.opened' | 'request.resolved'

/**
 * How a webhook is called: `webhook` posts JSON with a signature of Standard Webhooks, `ntfy` publishes to a
 * topic of ntfy, and `push` notifies a browser.
 */
export type WebhookKind = 'webhook' | 'ntfy' | 'push'

/** Somebody to call when a turn ends, and when a request is opened or resolved. Never has a secret. */
export type Webhook = {
  /** Identifies the webhook. */
  id: string
  /** How it is called. */
  kind: WebhookKind
  /** Whom it calls: a URL, or the host of a push service. */
  target: string
  /** What a person calls it. */
  name?: string | undefined
  /** What it is called for. */
  events: WebhookEvent[]
  /** Only for these sessions; absent for all. */
  sessions?: string[] | undefined
  /** When it was added, in milliseconds since 1970. */
  createdAt: number
  /** True after the receiver answered 410: it is not called any more. */
  disabled?: boolean | undefined
}

/** Whether a call still waits, was accepted, or has failed for good. */
export type DeliveryStatus = 'pending' | 'delivered' | 'dead'

/** One call of a webhook for one entry. */
export type WebhookDelivery = {
  /** The id of the message, the same for every attempt: `<session>.<seq>`. */
  id: string
  /** The session of the entry. */
  session: string
  /** What it tells of. */
  event: WebhookEvent
  /** When the entry was made, in milliseconds since 1970. */
  at: number
  /** Whether it waits, was accepted, or has failed for good. */
  status: DeliveryStatus
  /** How often it was tried. */
  attempts: number
  /** When it was tried last, or added, in milliseconds since 1970. */
  changedAt: number
  /** When it is tried next, in milliseconds since 1970. */
  due?: number | undefined
  /** What the last attempt ended with. */
  note?: string | undefined
}

/**
 * The keys of the subscription of a browser, in base64url. The page creates them, those of the sender too.
 */
export type PushKeys = {
  /** The public key of the browser. */
  p256dh: string
  /** The secret that the browser shares with its senders. */
  auth: string
  /** The public key of the sender (VAPID), an uncompressed point. */
  publicKey: string
  /** The private key of the sender. */
  privateKey: string
}

/** A webhook to add. */
export type NewWebhook = {
  /** How it is called; `webhook` by default. */
  kind?: WebhookKind | undefined
  /** Where it is. */
  url: string
  /** What a person calls it. */
  name?: string | undefined
  /** What it is called for; all by default, for people only what they act on. */
  events?: WebhookEvent[] | undefined
  /** Only for these sessions; absent for all. */
  sessions?: SessionId[] | undefined
  /** Signs the calls, as `whsec_` and base64; made by default. Of `ntfy` it is the access token, if any. */
  secret?: string | undefined
  /** The keys of a browser, for `push`. */
  push?: PushKeys | undefined
}

/** What a call tells. */
export type WebhookData = {
  /** The session; absent of a test. */
  session?: string | undefined
  /** The number of the entry in its session. */
  seq?: number | undefined
  /** The request, of the two events of requests. */
  requestId?: string | undefined
  /** The owner of the session. */
  principal?: string | undefined
  /** The agent. */
  agent?: string | undefined
  /** The title of the session. */
  title?: string | undefined
  /** One line for people. */
  text: string
  /** The page of the session, and of the request. */
  url: string
  /** The entry, unless it is large or was trimmed since. */
  entry?: Entry | undefined
}

/** What a webhook is sent, as JSON. */
export type WebhookPayload = {
  /** What happened; `test` if nothing did. */
  type: 'turn.completed' | 'request.opened' | 'request.resolved' | 'test'
  /** When it happened, as ISO 8601. */
  timestamp: string
  /** What it happened to. */
  data: WebhookData
}
