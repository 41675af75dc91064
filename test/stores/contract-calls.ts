import { expect, test } from 'vitest'
import { type AccessChange, actionOf } from '../../src/model/access.ts'
import type { StoredWebhook } from '../../src/model/webhook.ts'
import type { StoredDelivery, WebhookCall } from '../../src/stores/calls.ts'
import type { Store } from '../../src/stores/store.ts'
import { factOf } from './contract-access.ts'
import { entries, sessionId, state } from './sqlite-parts.ts'

const [ONE, TWO] = [sessionId(1), sessionId(2)]

export const webhookOf = (id: string, more: Partial<StoredWebhook> = {}): AccessChange => ({
  type: 'webhook.added',
  webhook: {
    ...{ id, principal: 'ann', kind: 'webhook', url: 'https://example.com/', secrets: [] },
    events: ['turn.completed', 'request.opened', 'request.resolved'],
    ...more,
  },
})

export const callOf = (session: string, seq: number, more: Partial<WebhookCall> = {}): WebhookCall => ({
  ...{ session, seq, principal: 'ann', type: 'turn.completed', at: seq },
  ...more,
})

/** What every store promises of the calls of webhooks. */
export function callContract(open: () => Promise<Store>): void {
  const change = (store: Store, one: AccessChange) => store.access.change(one, factOf(actionOf(one)))
  const commit = (store: Store, session: string, seq: number, calls: readonly WebhookCall[]) =>
    store.append(session, {
      entries: entries(session, seq, seq),
      record: state(session, { principal: 'ann' }),
      calls,
    })
  const ids = (deliveries: readonly StoredDelivery[]) => deliveries.map(({ id }) => id)
  const all = (store: Store, webhook: string) => store.calls.list({ webhook, limit: 100 })

  test('a call is committed with its entry, once for each webhook that wants it', async () => {
    await using store = await open()
    await change(store, webhookOf('all'))
    await change(store, webhookOf('turns', { events: ['turn.completed'] }))
    await change(store, webhookOf('chosen', { sessions: [TWO, sessionId(3)] }))
    await change(store, webhookOf('other', { principal: 'bob' }))
    await commit(store, ONE, 1, [callOf(ONE, 1)])
    await commit(store, TWO, 1, [callOf(TWO, 1, { type: 'request.opened' })])
    await expect(commit(store, ONE, 9, [callOf(ONE, 9)])).rejects.toMatchObject({ code: 'conflict' })
    expect(ids(await all(store, 'all')).sort()).toEqual([`${ONE}.1`, `${TWO}.1`])
    expect(ids(await all(store, 'turns'))).toEqual([`${ONE}.1`])
    expect(ids(await all(store, 'chosen'))).toEqual([`${TWO}.1`])
    expect(await all(store, 'other')).toEqual([])
    expect((await all(store, 'turns'))[0]).toEqual({
      ...{
        webhook: 'turns',
        id: `${ONE}.1`,
        session: ONE,
        seq: 1,
        principal: 'ann',
        event: 'turn.completed',
      },
      ...{ at: 1, status: 'pending', attempts: 0, changedAt: 1, due: 0 },
    })
  })

  test('a grant lets a webhook tell of the sessions of another principal, until it is removed', async () => {
    await using store = await open()
    await change(store, webhookOf('bot', { principal: 'bot' }))
    await commit(store, ONE, 1, [callOf(ONE, 1)])
    await change(store, { type: 'grant.added', to: 'bot', of: 'ann' })
    await commit(store, ONE, 2, [callOf(ONE, 2)])
    await change(store, { type: 'grant.removed', to: 'bot', of: 'ann' })
    await commit(store, ONE, 3, [callOf(ONE, 3)])
    expect(ids(await all(store, 'bot'))).toEqual([`${ONE}.2`])
  })

  test('a disabled or removed webhook gets no more calls', async () => {
    await using store = await open()
    await change(store, webhookOf('a'))
    await change(store, webhookOf('b'))
    const disabled = {
      type: 'webhook.changed',
      id: 'a',
      to: (one: StoredWebhook) => ({ ...one, disabled: 5 }),
    }
    expect(await change(store, disabled as AccessChange)).toBe(true)
    expect(await change(store, { type: 'webhook.removed', id: 'b', principal: 'bob' })).toBe(false)
    expect((await store.access.webhooks()).map(({ id, disabled }) => [id, disabled])).toEqual([
      ['a', 5],
      ['b', undefined],
    ])
    expect(await change(store, { type: 'webhook.removed', id: 'b', principal: 'ann' })).toBe(true)
    await commit(store, ONE, 1, [callOf(ONE, 1)])
    expect([await all(store, 'a'), await all(store, 'b')]).toEqual([[], []])
  })

  test('a call is taken by one process at a time, and is due again if that does not settle it', async () => {
    await using store = await open()
    await change(store, webhookOf('a'))
    for (const seq of [1, 2, 3]) await commit(store, ONE, seq, [callOf(ONE, seq)])
    const take = (now: number, limit: number) => store.calls.take('a', { now, until: now + 60, limit })
    const [some, others] = await Promise.all([take(10, 2), take(10, 2)])
    expect(
      ids([...some, ...others])
        .sort()
        .filter((id, at, sorted) => id === sorted[at - 1]),
    ).toEqual([])
    while ((await take(10, 2)).length > 0);
    expect(await store.calls.due()).toEqual(new Map([['a', 70]]))
    const again = await take(70, 9)
    expect(again.map(({ id, attempts }) => [id, attempts])).toEqual([
      [`${ONE}.1`, 2],
      [`${ONE}.2`, 2],
      [`${ONE}.3`, 2],
    ])
    const [first, second, third] = again
    const [old] = some
    if (!first || !second || !third || !old) throw new Error('nothing was taken')
    expect(await store.calls.settle(old, { status: 'delivered', at: 71 })).toBe(false)
    expect(await store.calls.settle(first, { status: 'delivered', at: 71 })).toBe(true)
    expect(
      await store.calls.settle(second, { status: 'pending', at: 72, due: 200, note: 'HTTP "503"' }),
    ).toBe(true)
    expect(await store.calls.settle(third, { status: 'dead', at: 73, note: 'gone' })).toBe(true)
    expect(await store.calls.due()).toEqual(new Map([['a', 200]]))
    expect((await all(store, 'a')).map(({ status, note, due }) => [status, note, due])).toEqual([
      ['dead', 'gone', undefined],
      ['pending', 'HTTP "503"', 200],
      ['delivered', undefined, undefined],
    ])
    expect(ids(await store.calls.list({ webhook: 'a', status: 'dead', limit: 5 }))).toEqual([third.id])
    expect(await store.calls.retry('a', third.id, 80)).toBe(true)
    expect(await store.calls.retry('a', 'none.1', 80)).toBe(false)
    expect((await take(80, 9)).map(({ id, attempts }) => [id, attempts])).toEqual([[third.id, 1]])
  })

  test('calls of a deleted session and of a removed webhook are removed, and finished ones beyond the limits', async () => {
    await using store = await open()
    await change(store, webhookOf('a'))
    await change(store, webhookOf('b'))
    for (const seq of [1, 2, 3, 4]) await commit(store, ONE, seq, [callOf(ONE, seq)])
    await commit(store, TWO, 1, [callOf(TWO, 1)])
    for (const one of await store.calls.take('a', { now: 10, until: 70, limit: 3 }))
      await store.calls.settle(one, { status: 'delivered', at: one.seq * 10 })
    await change(store, { type: 'webhook.removed', id: 'b', principal: 'ann' })
    await store.calls.forget({ before: 15, kept: 1 })
    const kept = ids(await all(store, 'a'))
    expect(kept).toHaveLength(3)
    expect(await all(store, 'b')).toEqual([])
    await store.delete(ONE)
    expect(ids(await all(store, 'a')).filter((id) => id.startsWith(ONE))).toEqual([])
  })

  test('a commit with calls wakes whoever waits for them', async () => {
    await using store = await open()
    const stop = new AbortController()
    const changed = store.calls.changed(stop.signal).then(() => 'changed')
    await commit(store, ONE, 1, [])
    expect(await Promise.race([changed, 'nothing'])).toBe('nothing')
    await commit(store, ONE, 2, [callOf(ONE, 2)])
    expect(await changed).toBe('changed')
  })
}
