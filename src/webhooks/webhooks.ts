import { randomUUID } from 'node:crypto'
import { type AccessChange, type Actor, actionOf, auditId } from '../model/access.ts'
import { MainstemError } from '../model/index.ts'
import type { NewWebhook, StoredWebhook, Webhook, WebhookDelivery } from '../model/webhook.ts'
import { WebhookEvent } from '../model/webhook.ts'
import type { AccessStore } from '../stores/access.ts'
import type { CallStore, StoredDelivery } from '../stores/calls.ts'
import { type CallDeps, call, isAccepted, noteOf } from './attempt.ts'
import { isForPeople, targetOf } from './destinations.ts'
import { testPayload } from './payload.ts'
import { checkPushKeys } from './push.ts'
import { isSecret, newSecret } from './signature.ts'

/** Webhooks of one principal. */
const MOST = 20
/** How long an old secret still signs after it was replaced: a day. */
const ROTATION_MS = 86_400_000

/** A finished call is kept for 30 days, and at most this many of each webhook. */
export const KEPT = { ms: 30 * 86_400_000, each: 1_000 }

/** The result of a test. */
export interface TestResult {
  ok: boolean
  note: string
}

/** The webhooks of each principal: the one place that adds, changes and removes them. */
export class Webhooks {
  readonly #access: AccessStore
  readonly #calls: CallStore
  readonly #deps: CallDeps

  constructor({ access, calls }: { access: AccessStore; calls: CallStore }, deps: CallDeps) {
    this.#access = access
    this.#calls = calls
    this.#deps = deps
  }

  async list(principal: string): Promise<readonly Webhook[]> {
    return (await this.#of(principal)).map(shown)
  }

  /** Adds a webhook. Its secret is returned now, and never again. */
  async add(given: NewWebhook, actor: Actor): Promise<{ webhook: Webhook; secret?: string }> {
    const { kind = 'webhook', url, name, events = defaultEvents(kind), sessions, push } = given
    const { principal } = actor
    this.#check({ ...given, kind })
    if ((await this.#of(principal)).length >= MOST)
      throw new MainstemError('conflict', `${principal} has ${MOST} webhooks; remove one first`)
    const secret = given.secret ?? (kind === 'webhook' ? newSecret() : undefined)
    const id = `wh_${randomUUID().replaceAll('-', '')}`
    const webhook = {
      ...{ id, principal, kind, url, events: [...new Set(events)] },
      ...(name !== undefined && { name }),
      ...(sessions && { sessions: [...new Set(sessions)] }),
      ...(push && { push }),
      secrets: secret === undefined ? [] : [{ secret }],
    }
    await this.#change({ type: 'webhook.added', webhook }, actor)
    const added = await this.#find(principal, id)
    return { webhook: shown(added), ...(kind === 'webhook' && secret !== undefined && { secret }) }
  }

  async remove(id: string, actor: Actor): Promise<void> {
    const { principal } = actor
    if (!(await this.#change({ type: 'webhook.removed', id, principal }, actor))) throw notFound()
  }

  /** Replaces the secret. The one before signs too, for a day, so that receivers can change over. */
  async rotate(id: string, actor: Actor): Promise<string> {
    const { kind } = await this.#find(actor.principal, id)
    if (kind !== 'webhook') throw new MainstemError('conflict', `${kind}: has no secret to replace`)
    const secret = newSecret()
    const to = ({ secrets, ...webhook }: StoredWebhook, at: number): StoredWebhook => {
      const [before] = secrets
      const old = before ? [{ ...before, until: at + ROTATION_MS }] : []
      return { ...webhook, secrets: [{ secret }, ...old] }
    }
    await this.#change({ type: 'webhook.changed', id, to }, actor)
    return secret
  }

  /** Calls it now, once, with a message that tells of nothing. */
  async test(principal: string, id: string): Promise<TestResult> {
    const webhook = await this.#find(principal, id)
    const now = await this.#access.now()
    const payload = testPayload(now, this.#deps.pageUrl())
    const result = await call(webhook, { id: `test.${randomUUID()}`, payload, now }, this.#deps)
    return { ok: isAccepted(result), note: noteOf(result) }
  }

  async deliveries(
    principal: string,
    id: string,
    { status, limit }: { status?: WebhookDelivery['status'] | undefined; limit: number },
  ): Promise<readonly WebhookDelivery[]> {
    await this.#find(principal, id)
    const found = await this.#calls.list({ webhook: id, limit, ...(status && { status }) })
    return found.map(deliveryOf)
  }

  /** Makes a call due now, with all its attempts: also one that was delivered. */
  async retry(principal: string, id: string, delivery: string): Promise<void> {
    const { disabled } = await this.#find(principal, id)
    if (disabled !== undefined) {
      const advice = 'Its receiver answered 410. Remove it, and add it again.'
      throw new MainstemError('conflict', 'the webhook is disabled', { advice })
    }
    if (!(await this.#calls.retry(id, delivery, await this.#access.now()))) throw notFound('delivery')
  }

  async #of(principal: string): Promise<readonly StoredWebhook[]> {
    return (await this.#access.webhooks()).filter((one) => one.principal === principal)
  }

  async #find(principal: string, id: string): Promise<StoredWebhook> {
    const found = (await this.#of(principal)).find((one) => one.id === id)
    if (!found) throw notFound()
    return found
  }

  #change(change: AccessChange, actor: Actor): Promise<boolean> {
    const webhook = change.type === 'webhook.added' ? change.webhook.id : 'id' in change ? change.id : ''
    const fact = { ...actor, id: auditId(randomUUID()), action: actionOf(change), details: { webhook } }
    return this.#access.change(change, fact)
  }

  #check({ kind, url, secret, push }: NewWebhook & { kind: Webhook['kind'] }): void {
    const parsed = URL.canParse(url) ? new URL(url) : undefined
    if (!parsed || !['https:', 'http:'].includes(parsed.protocol)) throw invalid('url', 'not an http URL')
    if (parsed.username !== '' || parsed.password !== '') throw invalid('url', 'has a password; use a secret')
    this.#deps.guard.check(parsed)
    if (kind === 'webhook' && secret !== undefined && !isSecret(secret))
      throw invalid('secret', '`whsec_` and 24 to 64 bytes in base64')
    if ((kind === 'push') !== (push !== undefined)) throw invalid('push', 'belongs to the kind `push`')
    if (push) checkPushKeys(push)
    if (kind === 'ntfy' && !/\/[A-Za-z0-9_-]{1,64}$/.test(parsed.pathname))
      throw invalid('url', 'does not end with a topic')
  }
}

/** People are told what waits for them, and what is done. */
const defaultEvents = (kind: Webhook['kind']): readonly WebhookEvent[] =>
  isForPeople(kind) ? ['turn.completed', 'request.opened'] : WebhookEvent.options

function shown(webhook: StoredWebhook): Webhook {
  const { id, kind, name, events, sessions, at, disabled } = webhook
  return {
    ...{ id, kind, target: targetOf(webhook), events },
    ...(name !== undefined && { name }),
    ...(sessions && { sessions }),
    createdAt: Math.floor(at),
    ...(disabled !== undefined && { disabled: true }),
  }
}

function deliveryOf({
  webhook: _,
  seq: __,
  principal: ___,
  due,
  ...delivery
}: StoredDelivery): WebhookDelivery {
  const changedAt = Math.floor(delivery.changedAt)
  return { ...delivery, changedAt, ...(due !== undefined && { due: Math.floor(due) }) }
}

const invalid = (field: string, why: string) =>
  new MainstemError('invalid_request', `${field}: ${why}`, { field })

const notFound = (what = 'webhook') => new MainstemError('not_found', `no such ${what}`)
