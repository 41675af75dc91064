import type { WebhookDelivery, WebhookEvent } from '../model/webhook.ts'

/** An entry that webhooks may be called for. Stored in the commit of the entry, once for each webhook that wants it. */
export interface WebhookCall {
  session: string
  seq: number
  /** The owner of the session. */
  principal: string
  type: WebhookEvent
  at: number
}

/** A call of a webhook, and where its entry is. */
export interface StoredDelivery extends WebhookDelivery {
  webhook: string
  seq: number
  principal: string
}

/** What an attempt ended with. Without `due` it was the last. */
export interface Attempt {
  status: WebhookDelivery['status']
  at: number
  due?: number
  note?: string
}

export interface DeliveryQuery {
  webhook: string
  status?: WebhookDelivery['status']
  limit: number
}

/** Which rows are removed: those that ended before a time, and all but the newest of each webhook. */
export interface OldDeliveries {
  before: number
  kept: number
}

/**
 * The calls of webhooks that are due. They are committed with the entries that they tell of, so none is lost, and none is
 * made for an entry that was never committed. All times are those of the caller, which is the clock of the store.
 */
export interface CallStore {
  /** The webhooks with calls that are not finished, and when the first of each is due. */
  due(): Promise<ReadonlyMap<string, number>>
  /**
   * Takes calls of a webhook that are due, the oldest first: counts an attempt, and makes them due again at `until`, in
   * case this process dies. No call is taken by two processes at the same time.
   */
  take(
    webhook: string,
    from: { now: number; until: number; limit: number },
  ): Promise<readonly StoredDelivery[]>
  /** Records the end of an attempt. Returns false if another attempt began since. */
  settle(delivery: StoredDelivery, attempt: Attempt): Promise<boolean>
  /** Makes a finished call due now, with all its attempts. Returns false if there is no such call. */
  retry(webhook: string, id: string, now: number): Promise<boolean>
  /** The newest first. */
  list(query: DeliveryQuery): Promise<readonly StoredDelivery[]>
  /** Removes finished calls, and those of webhooks that are no longer there. */
  forget(old: OldDeliveries): Promise<void>
  /** Settles when this process committed or retried calls after it was asked; also when the signal fires. */
  changed(signal: AbortSignal): Promise<void>
}
