import { randomUUID } from 'node:crypto'
import type { Timers } from '../drivers/driver.ts'
import { auditId } from '../model/access.ts'
import { Waiters } from '../model/waiters.ts'
import type { StoredWebhook } from '../model/webhook.ts'
import type { Attempt, StoredDelivery } from '../stores/calls.ts'
import type { Store } from '../stores/store.ts'
import { attemptOf, type CallDeps, call, isGone, whyNotCalled } from './attempt.ts'
import { payloadOf } from './payload.ts'

/** Calls at the same time. A slow receiver keeps its own waiting, and those of its principal at most. */
const AT_ONCE = { webhook: 4, principal: 16 }

/** A call that is not settled by then is due again: its server has died. Longer than an attempt can take. */
const TAKEN_MS = 20_000

/** Calls that another server was to make are found after this time. */
const POLL_MS = 5_000

export interface DispatcherDeps extends CallDeps {
  store: Pick<Store, 'access' | 'calls' | 'read' | 'record'>
  timers: Timers
  /** The clock of the store. */
  now(): Promise<number>
  /** Whether a principal still exists, and may read the sessions of another. */
  mayRead(principal: string, owner: string): Promise<boolean>
  report(thrown: unknown): void
}

/** Calls the webhooks. Several servers on one store share the work; each call is made by the server that takes it. */
export class Dispatcher {
  readonly #deps: DispatcherDeps
  readonly #freed = new Waiters()
  readonly #running = new Map<Promise<void>, StoredWebhook>()

  constructor(deps: DispatcherDeps) {
    this.#deps = deps
  }

  /** Calls until the signal aborts. Then it gives back what it has not finished. */
  async run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const round = new AbortController()
      const signal = AbortSignal.any([stop, round.signal])
      // Armed before reading: a commit during the read must wake us.
      const woken = Promise.race([this.#deps.store.calls.changed(signal), this.#freed.wait(signal)])
      const waitMs = await this.#begin(stop).catch((thrown) => {
        this.#deps.report(thrown)
        return POLL_MS
      })
      if (waitMs > 0) await Promise.race([woken, this.#deps.timers.sleep(waitMs, signal)])
      round.abort()
    }
    await Promise.all(this.#running.keys())
  }

  /** Begins what is due and has room. Returns how long nothing else is due. */
  async #begin(stop: AbortSignal): Promise<number> {
    const { store, now: clock } = this.#deps
    const webhooks = await store.access.webhooks()
    if (webhooks.length === 0) return POLL_MS
    const [due, now] = [await store.calls.due(), await clock()]
    let next = now + POLL_MS
    for (const webhook of webhooks) {
      const at = due.get(webhook.id)
      if (at === undefined || webhook.disabled !== undefined) continue
      const limit = this.#room(webhook)
      if (at > now) next = Math.min(next, at)
      // Without room, the end of a call wakes the next round.
      else if (limit > 0 && (await this.#take(webhook, { now, until: now + TAKEN_MS, limit }, stop)))
        next = now
    }
    return next - now
  }

  #room({ id, principal }: StoredWebhook): number {
    const running = [...this.#running.values()]
    const ofWebhook = running.filter((one) => one.id === id).length
    const ofPrincipal = running.filter((one) => one.principal === principal).length
    return Math.min(AT_ONCE.webhook - ofWebhook, AT_ONCE.principal - ofPrincipal)
  }

  async #take(
    webhook: StoredWebhook,
    from: { now: number; until: number; limit: number },
    stop: AbortSignal,
  ): Promise<boolean> {
    const taken = await this.#deps.store.calls.take(webhook.id, from)
    for (const delivery of taken) {
      const running: Promise<void> = this.#deliver(webhook, delivery, stop)
        .catch(this.#deps.report)
        .then(() => {
          this.#running.delete(running)
          this.#freed.wake()
        })
      this.#running.set(running, webhook)
    }
    return taken.length > 0
  }

  async #deliver(webhook: StoredWebhook, delivery: StoredDelivery, stop: AbortSignal): Promise<void> {
    const { store } = this.#deps
    const attempt = await this.#attempt(webhook, delivery, stop)
    await store.calls.settle(delivery, attempt)
  }

  async #attempt(webhook: StoredWebhook, delivery: StoredDelivery, stop: AbortSignal): Promise<Attempt> {
    const { store, mayRead, pageUrl, now: clock } = this.#deps
    const at = await clock()
    const ended = (note: string): Attempt => ({ status: 'dead', at, note })
    if (!(await mayRead(webhook.principal, delivery.principal))) return ended('may not read the session')
    const payload = await payloadOf(store, delivery, pageUrl())
    if (!payload) return ended('the session was deleted')
    const why = whyNotCalled(webhook, payload.data.entry?.event)
    if (why !== undefined) return { status: 'delivered', at, note: why }
    const result = await call(webhook, { id: delivery.id, payload, now: at }, this.#deps, stop)
    const now = await clock()
    // Stopped in the middle, so the receiver may have it: the next server sends it again with the same id.
    if (stop.aborted && 'failure' in result) return { status: 'pending', at: now, due: now }
    if (isGone(result)) await this.#disable(webhook)
    return attemptOf(delivery, result, now)
  }

  async #disable({ id, principal }: StoredWebhook): Promise<void> {
    const to = (before: StoredWebhook, at: number) =>
      before.disabled === undefined ? { ...before, disabled: at } : undefined
    const fact = { id: auditId(randomUUID()), principal, client: 'api', action: 'webhook.changed' } as const
    const details = { webhook: id, reason: 'gone' }
    await this.#deps.store.access.change({ type: 'webhook.changed', id, to }, { ...fact, details })
  }
}
