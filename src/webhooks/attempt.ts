import { type Event, toMainstemError } from '../model/index.ts'
import { isForPerson } from '../model/request/for-person.ts'
import type { StoredWebhook, WebhookPayload } from '../model/webhook.ts'
import type { Attempt, StoredDelivery } from '../stores/calls.ts'
import type { AddressGuard } from './address-guard.ts'
import { isForPeople, requestTo } from './destinations.ts'
import { type PostReply, post } from './post.ts'

/** How long a receiver may take. */
const TIMEOUT_MS = 15_000

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000]

/** The time before each further attempt, as Standard Webhooks recommends: 75 hours together. */
export const BACKOFF_MS = [
  ...[5 * SECOND, 5 * MINUTE, 30 * MINUTE],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
]

/** The longest that a receiver can postpone the next attempt. */
const LONGEST_RETRY_AFTER_MS = HOUR

/** The status of a receiver that does not want to be called again. */
const GONE = 410

export interface CallDeps {
  guard: AddressGuard
  /** Where the page is. */
  pageUrl(): string
  /** Whom a push service writes to if something is wrong: a URL. The page if absent. */
  contact: string | undefined
}

/** What a receiver answered, or why it did not. */
export type WebhookResult = PostReply | { failure: string }

export async function call(
  webhook: StoredWebhook,
  { id, payload, now }: { id: string; payload: WebhookPayload; now: number },
  { guard, contact, pageUrl }: CallDeps,
  stop?: AbortSignal,
): Promise<WebhookResult> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const signal = stop ? AbortSignal.any([timeout, stop]) : timeout
  try {
    const outgoing = requestTo(webhook, { id, payload, now, contact: contact ?? pageUrl() })
    return await post(outgoing, guard, signal)
  } catch (thrown) {
    if (timeout.aborted) return { failure: `no answer within ${TIMEOUT_MS / SECOND} s` }
    return { failure: toMainstemError(thrown).message.slice(0, 200) }
  }
}

export const isAccepted = (result: WebhookResult): boolean =>
  'status' in result && result.status >= 200 && result.status < 300

export const isGone = (result: WebhookResult): boolean => 'status' in result && result.status === GONE

export const noteOf = (result: WebhookResult): string =>
  'status' in result ? `HTTP ${result.status}` : result.failure

/** What follows from a result: it is tried again after some time, unless that was the last attempt. */
export function attemptOf(
  { attempts }: Pick<StoredDelivery, 'attempts'>,
  result: WebhookResult,
  now: number,
): Attempt {
  const note = noteOf(result)
  if (isAccepted(result)) return { status: 'delivered', at: now, note }
  const wait = BACKOFF_MS[attempts - 1]
  if (wait === undefined || isGone(result)) return { status: 'dead', at: now, note }
  const asked = 'status' in result ? Math.min(result.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS) : 0
  return { status: 'pending', at: now, due: now + Math.max(wait, asked), note }
}

/** Why nobody is called, although the webhook is registered for the event: people get what they can act on. */
export function whyNotCalled(
  { kind }: Pick<StoredWebhook, 'kind'>,
  event: Event | undefined,
): string | undefined {
  if (!isForPeople(kind)) return undefined
  const isAutomatic =
    (event?.type === 'request.opened' && !isForPerson(event)) ||
    (event?.type === 'request.resolved' && event.by !== 'person')
  return isAutomatic ? 'not sent: no person has to decide' : undefined
}
