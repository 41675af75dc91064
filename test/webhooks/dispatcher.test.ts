import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Timers } from '../../src/drivers/driver.ts'
import { type AccessChange, actionOf } from '../../src/model/access.ts'
import type { Event } from '../../src/model/index.ts'
import type { StoredWebhook } from '../../src/model/webhook.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Store } from '../../src/stores/store.ts'
import { AddressGuard } from '../../src/webhooks/address-guard.ts'
import { BACKOFF_MS } from '../../src/webhooks/attempt.ts'
import { Dispatcher } from '../../src/webhooks/dispatcher.ts'
import { newSecret } from '../../src/webhooks/signature.ts'
import { Webhooks } from '../../src/webhooks/webhooks.ts'
import { factOf } from '../stores/contract-access.ts'
import { webhookOf } from '../stores/contract-calls.ts'
import { sessionId, state } from '../stores/sqlite-parts.ts'
import { Receiver } from './receiver.ts'
import { isSigned } from './verify.ts'

const SESSION = sessionId(1)
const SECRET = newSecret()
const OPENED: Event = {
  ...{ type: 'request.opened', requestId: 'r 1', kind: 'permission', blocking: true },
  ...{ inputDigest: 'd', options: [], title: 'Run npm test' },
}
const COMPLETED: Event = {
  type: 'turn.completed',
  turn: 1,
  outcome: 'completed',
  durationMs: 1,
  usage: {},
  denials: 0,
}

/** Time passes when the test says so. */
class TestTime implements Timers {
  #now = 1_000_000
  readonly #sleeping = new Set<{ until: number; wake(): void }>()
  readonly now = async () => this.#now

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = {
        until: this.#now + ms,
        wake: () => {
          this.#sleeping.delete(sleeper)
          resolve()
        },
      }
      this.#sleeping.add(sleeper)
      signal.addEventListener('abort', sleeper.wake)
    })
  }

  pass(ms: number): void {
    this.#now += ms
    for (const { until, wake } of [...this.#sleeping]) if (until <= this.#now) wake()
  }
}

let store: Store
let time: TestTime
let receiver: Receiver
let readers: Set<string>
let running: { stop: AbortController; done: Promise<void> } | undefined
const reported: unknown[] = []

const guard = new AddressGuard(['127.0.0.1'])
const calls = { guard, pageUrl: () => 'https://mainstem.example', contact: undefined }

function start(): void {
  const stop = new AbortController()
  const dispatcher = new Dispatcher({
    ...{ ...calls, store, timers: time, now: time.now },
    mayRead: async (principal) => readers.has(principal),
    report: (thrown) => reported.push(thrown),
  })
  running = { stop, done: dispatcher.run(stop.signal) }
}

async function stop(): Promise<void> {
  running?.stop.abort()
  await running?.done
  running = undefined
}

beforeEach(async () => {
  store = memoryStore()
  time = new TestTime()
  receiver = await new Receiver().start()
  readers = new Set(['ann'])
  start()
})
afterEach(async () => {
  await stop()
  await receiver.stop()
  expect(reported.splice(0)).toEqual([])
})

const change = (one: AccessChange) => store.access.change(one, factOf(actionOf(one)))

const add = (id: string, more: Partial<StoredWebhook> = {}) =>
  change(webhookOf(id, { url: receiver.url, secrets: [{ secret: SECRET }], ...more }))

/** Commits an event with its call, as a session does. */
async function commit(event: Event, session = SESSION): Promise<number> {
  const seq = (await store.head(session)) + 1
  const principal = 'ann'
  const entry = { seq, session, at: seq, event }
  await store.append(session, {
    entries: [entry],
    record: state(session, { principal, title: 'Fix the tests' }),
    calls: [{ session, seq, principal, type: event.type as 'turn.completed', at: seq }],
  })
  return seq
}

const only = async (webhook = 'a') => (await store.calls.list({ webhook, limit: 9 }))[0]
const settled = (webhook: string, status: string) =>
  expect.poll(async () => (await only(webhook))?.status).toBe(status)
/** Waits until an attempt has ended, then lets the time pass until the next. */
async function attempted(attempts: number): Promise<void> {
  await expect
    .poll(async () => {
      const one = await only()
      return one?.attempts === attempts && one.note !== undefined
    })
    .toBe(true)
}

test('a receiver gets the event with a signature, and what it needs to find the request', async () => {
  await add('a')
  await commit(OPENED)
  await settled('a', 'delivered')
  const [call] = receiver.received
  if (!call) throw new Error('nothing was received')
  expect(call.headers['webhook-id']).toBe(`${SESSION}.1`)
  expect(isSigned(call, SECRET)).toBe(true)
  expect(isSigned(call, newSecret())).toBe(false)
  expect(isSigned({ ...call, body: call.body.replace('npm', 'rm') }, SECRET)).toBe(false)
  expect(call.payload).toMatchObject({
    type: 'request.opened',
    timestamp: '1970-01-01T00:00:00.001Z',
    data: {
      ...{ session: SESSION, seq: 1, requestId: 'r 1', principal: 'ann', agent: 'echo' },
      ...{ title: 'Fix the tests', text: 'echo: Run npm test' },
      url: `https://mainstem.example/#/sessions/${SESSION}?request=r%201`,
      entry: { seq: 1, event: OPENED },
    },
  })
})

test('a receiver that was down gets the call later, with the same id', async () => {
  await receiver.stop()
  await add('a')
  await commit(COMPLETED)
  await attempted(1)
  expect(await only()).toMatchObject({ status: 'pending', due: 1_000_000 + 5_000 })
  await receiver.start()
  time.pass(5_000)
  await settled('a', 'delivered')
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([`${SESSION}.1`])
})

test('a call that fails ten times is dead, and can be made again by hand', async () => {
  receiver.answer = { status: 500 }
  await add('a')
  await commit(COMPLETED)
  for (const [attempt, wait] of BACKOFF_MS.entries()) {
    await attempted(attempt + 1)
    await expect.poll(async () => (await only())?.due).toBe((await time.now()) + wait)
    time.pass(wait)
  }
  await settled('a', 'dead')
  expect(await only()).toMatchObject({ attempts: 10, note: 'HTTP 500' })
  expect(receiver.received).toHaveLength(10)
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  receiver.answer = { status: 200 }
  const webhooks = new Webhooks(store, calls)
  await expect(webhooks.retry('bob', 'a', `${SESSION}.1`)).rejects.toMatchObject({ code: 'not_found' })
  await webhooks.retry('ann', 'a', `${SESSION}.1`)
  await settled('a', 'delivered')
})

test('a receiver can postpone the next attempt, but not for ever', async () => {
  receiver.answer = { status: 429, headers: { 'retry-after': '60' } }
  await add('a')
  await commit(COMPLETED)
  await attempted(1)
  expect((await only())?.due).toBe(1_000_000 + 60_000)
  receiver.answer = { status: 503, headers: { 'retry-after': '999999999' } }
  time.pass(60_000)
  await attempted(2)
  await expect.poll(async () => (await only())?.due).toBe(1_060_000 + 3_600_000)
})

test('a redirect is not followed', async () => {
  await using other = await new Receiver().start()
  receiver.answer = { status: 302, headers: { location: other.url } }
  await add('a')
  await commit(COMPLETED)
  await attempted(1)
  expect(await only()).toMatchObject({ status: 'pending', note: 'HTTP 302' })
  expect(other.received).toEqual([])
})

test('a receiver that is gone is not called again', async () => {
  receiver.answer = { status: 410 }
  await add('a')
  await commit(COMPLETED)
  await settled('a', 'dead')
  expect(await new Webhooks(store, calls).list('ann')).toMatchObject([{ id: 'a', disabled: true }])
  await commit(COMPLETED)
  expect(await store.calls.list({ webhook: 'a', limit: 9 })).toHaveLength(1)
  const trail = await store.access.audit({ order: 'newest', limit: 1 })
  expect(trail).toMatchObject([{ action: 'webhook.changed', details: { webhook: 'a', reason: 'gone' } }])
})

test('a slow receiver delays nobody else, and gets four calls at a time', async () => {
  await using slow = await new Receiver().start()
  const held = Promise.withResolvers<void>()
  slow.held = held.promise
  await add('slow', { url: slow.url })
  await add('quick')
  for (let count = 0; count < 12; count++) await commit(COMPLETED)
  await expect.poll(() => receiver.received.length).toBe(12)
  expect(slow.received).toHaveLength(4)
  held.resolve()
  await expect.poll(() => slow.received.length).toBe(12)
  expect(new Set(slow.received.map(({ headers }) => headers['webhook-id'])).size).toBe(12)
})

test('while a secret is replaced, both sign', async () => {
  await add('a')
  const webhooks = new Webhooks(store, calls)
  const next = await webhooks.rotate('a', { principal: 'ann', client: 'api' })
  await expect(webhooks.rotate('a', { principal: 'bob', client: 'api' })).rejects.toMatchObject({
    code: 'not_found',
  })
  await commit(COMPLETED)
  await settled('a', 'delivered')
  const [call] = receiver.received
  // The time of the test is long before the end of the old secret.
  expect(call && [isSigned(call, SECRET), isSigned(call, next)]).toEqual([true, true])
  const until = (await store.access.webhooks())[0]?.secrets[1]?.until ?? 0
  time.pass(until)
  await commit(COMPLETED)
  await expect.poll(() => receiver.received.length).toBe(2)
  const [, later] = receiver.received
  expect(later && [isSigned(later, SECRET), isSigned(later, next)]).toEqual([false, true])
})

test('nobody is told of a session that it may not read any more, or that was deleted', async () => {
  await receiver.stop()
  await add('a')
  await commit(COMPLETED)
  await attempted(1)
  await receiver.start()
  readers.clear()
  time.pass(5_000)
  await settled('a', 'dead')
  expect(await only()).toMatchObject({ note: 'may not read the session' })
  await store.delete(SESSION)
  expect(await only()).toBeUndefined()
  expect(receiver.received).toEqual([])
})

test('people are not notified of what a policy decides', async () => {
  await add('a', { kind: 'ntfy', secrets: [] })
  await commit({ ...OPENED, answeredBy: 'policy' })
  await settled('a', 'delivered')
  expect(await only()).toMatchObject({ note: 'not sent: no person has to decide' })
  await commit(OPENED)
  await expect.poll(() => receiver.received.length).toBe(1)
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toEqual({
    ...{ topic: 'hook', title: 'Fix the tests', message: 'echo: Run npm test', priority: 4 },
    click: `https://mainstem.example/#/sessions/${SESSION}?request=r%201`,
  })
})

test('a call that was interrupted is made again at once by the next server, and one of a killed server after its time', async () => {
  const held = Promise.withResolvers<void>()
  receiver.held = held.promise
  await add('a')
  await commit(COMPLETED)
  await expect.poll(() => receiver.received.length).toBe(1)
  await stop()
  expect(await only()).toMatchObject({ status: 'pending', due: 1_000_000 })
  held.resolve()
  // Taken by a server that dies.
  await store.calls.take('a', { now: 1_000_000, until: 1_020_000, limit: 1 })
  start()
  time.pass(20_000)
  await settled('a', 'delivered')
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([
    `${SESSION}.1`,
    `${SESSION}.1`,
  ])
})
