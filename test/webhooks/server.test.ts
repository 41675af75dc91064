import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MainstemClient } from '../../src/client/index.ts'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import type { Server } from '../../src/daemon/server.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { addToken, operatorOf } from '../daemon/add-token.ts'
import { NodeProcess } from '../daemon/node-process.ts'
import { newSchema } from '../postgres/database.ts'
import { Receiver } from './receiver.ts'
import { isSigned } from './verify.ts'

let home: string
let receiver: Receiver
beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'webhooks-')))
  mkdirSync(join(home, 'work'))
  receiver = await new Receiver().start()
})
afterEach(async () => {
  await receiver.stop()
  rmSync(home, { recursive: true, maxRetries: 3 })
})

const code = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    ({ code: reason }) => reason,
  )

async function started(settings: { private?: string[]; url?: string } = {}): Promise<Server> {
  const flags = { data: join(home, 'data'), cwd: join(home, 'work'), port: 0 }
  const config = await loadConfig({ flags, environment: {}, cwd: home })
  const webhooks = { ...config.webhooks, private: ['127.0.0.1'], ...settings }
  const timeouts = { ...config.timeouts, drainMs: 10 }
  return serve({ config: { ...config, webhooks, timeouts }, report: (thrown) => console.error(thrown) })
}

const at = ({ url }: Server, token: string) => new MainstemClient({ baseUrl: url, token })

/** The calls that a killed server had taken become due, as after the 20 seconds for which it had them. */
async function release(store: Store, webhook: string): Promise<void> {
  const taken = await store.calls.take(webhook, { now: Date.now() + 60_000, until: 1, limit: 100 })
  expect(taken).not.toEqual([])
  await store[Symbol.asyncDispose]()
}

async function turn(client: MainstemClient): Promise<string> {
  const { id } = await client.begin({ agent: 'echo' })
  await client.prompt(id, 'hello')
  return id
}

test('a principal is called for its own sessions, and nobody else sees or uses its webhooks', async () => {
  const server = await started({ url: 'https://mainstem.example' })
  try {
    const operator = operatorOf(server)
    const [ann, bob] = [
      at(server, await addToken(operator, 'ann')),
      at(server, await addToken(operator, 'bob')),
    ]
    const { webhook, secret = '' } = await ann.webhooks.add({ url: receiver.url, name: 'mine' })
    expect(webhook).toMatchObject({ kind: 'webhook', target: receiver.url, name: 'mine' })
    expect(await ann.webhooks.list()).toEqual([webhook])
    expect(JSON.stringify(await ann.webhooks.list())).not.toContain(secret)
    for (const other of [bob, operator]) {
      expect(await other.webhooks.list()).toEqual([])
      const { id } = webhook
      const uses = [
        ...[other.webhooks.test(id), other.webhooks.rotate(id), other.webhooks.remove(id)],
        ...[other.webhooks.deliveries(id), other.webhooks.retry(id, 'x.1')],
      ]
      const codes = await Promise.all(uses.map(code))
      expect(new Set(codes)).toEqual(new Set(['not_found']))
    }
    await turn(bob)
    const session = await turn(ann)
    await expect.poll(() => receiver.received.length).toBe(1)
    const [call] = receiver.received
    expect(call?.payload.data).toMatchObject({
      session,
      principal: 'ann',
      url: `https://mainstem.example/#/sessions/${session}`,
    })
    expect(call && isSigned(call, secret)).toBe(true)
    expect(await ann.webhooks.test(webhook.id)).toEqual({ ok: true, note: 'HTTP 204' })
    expect(receiver.types).toEqual(['turn.completed', 'test'])
    await expect
      .poll(async () => (await ann.webhooks.deliveries(webhook.id, { status: 'delivered' })).length)
      .toBe(1)
    const headers = { authorization: `Bearer ${server.tokenFile?.token}` }
    const mine = await operator.begin({ agent: 'echo', prompt: 'old' })
    await expect.poll(async () => (await operator.session(mine.id)).lastOutcome).toBe('completed')
    const exported = await fetch(`${server.url}/v1/sessions/${mine.id}/export`, { headers })
    await ann.import(await exported.text())
    await turn(ann)
    await expect.poll(() => receiver.types).toEqual(['turn.completed', 'test', 'turn.completed'])
    await ann.webhooks.remove(webhook.id)
    expect(await code(ann.webhooks.deliveries(webhook.id))).toBe('not_found')
    const trail = await operator.audit({ principal: 'ann', limit: 2 })
    expect(trail.records.map(({ action }) => action)).toContain('webhook.removed')
    expect(JSON.stringify(trail)).not.toContain(secret)
  } finally {
    await server.stop()
  }
})

test('a webhook is refused that calls the network of the server, or that says what cannot be', async () => {
  const server = await started({ private: [] })
  try {
    const { webhooks } = operatorOf(server)
    const push = { p256dh: 'x', auth: 'x', publicKey: 'x', privateKey: 'x' }
    for (const body of [
      ...['http://example.com/', 'https://127.0.0.1/', 'https://[::1]:8/', 'ftp://example.com/', 'x'].map(
        (url) => ({ url }),
      ),
      { url: 'https://user:pass@example.com/' },
      { url: 'https://example.com/', secret: 'whsec_short' },
      { url: 'https://example.com/', kind: 'ntfy' as const },
      { url: 'https://example.com/', kind: 'push' as const },
      { url: 'https://example.com/', kind: 'push' as const, push },
      { url: 'https://example.com/', push },
      { url: 'https://example.com/', events: [] },
      { url: 'https://example.com/', sessions: ['not an id'] },
    ])
      expect(await code(webhooks.add(body)), JSON.stringify(body)).toBe('invalid_request')
    for (let count = 0; count < 20; count++) await webhooks.add({ url: 'https://example.com/' })
    expect(await code(webhooks.add({ url: 'https://example.com/' }))).toBe('conflict')
  } finally {
    await server.stop()
  }
})

test('a background server stays until its calls are made', async () => {
  const server = await started()
  try {
    const client = operatorOf(server)
    await receiver.stop()
    const { webhook } = await client.webhooks.add({ url: receiver.url, events: ['turn.completed'] })
    await turn(client)
    const pending = () => client.webhooks.deliveries(webhook.id, { status: 'pending' })
    await expect.poll(async () => (await pending())[0]?.note).toBeDefined()
    const idle = server.idle(1).then(() => receiver.received.length)
    await receiver.start()
    expect(await idle).toBe(1)
  } finally {
    await server.stop()
  }
})

test('what a killed server committed is called for by the next one', async () => {
  const options = { privateAddresses: ['127.0.0.1'] }
  const held = Promise.withResolvers<void>()
  receiver.held = held.promise
  const first = await NodeProcess.start('n', home, '', options)
  const { webhook } = await first.client.webhooks.add({ url: receiver.url, events: ['turn.completed'] })
  const sessions = [...Array(6)].map(() => turn(first.client))
  const ids = (await Promise.all(sessions)).sort()
  await expect.poll(() => receiver.received.length).toBe(4)
  await expect.poll(async () => (await first.client.webhooks.deliveries(webhook.id)).length).toBe(6)
  await first.kill()
  const before = receiver.received.length
  held.resolve()
  await release(await sqliteStore({ directory: join(home, 'n', 'data', 'log') }), webhook.id)
  const second = await NodeProcess.start('n', home, '', options)
  try {
    // Two were never sent. The other four are sent again, because the first server did not say how they ended.
    await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(before + 6)
    const after = receiver.received.slice(before)
    expect(after.map(({ payload }) => payload.data.session).sort()).toEqual(ids)
    const known = new Set(after.map(({ headers }) => headers['webhook-id']))
    for (const { headers } of receiver.received) expect(known).toContain(headers['webhook-id'])
  } finally {
    await second.kill()
  }
})

test('of two servers on one store, one makes each call, and the other takes over what it leaves', async () => {
  const store = await newSchema()
  const options = { privateAddresses: ['127.0.0.1'] }
  const [n1, n2] = await Promise.all([
    NodeProcess.start('n1', home, store, options),
    NodeProcess.start('n2', home, store, options),
  ])
  try {
    const { webhook } = await n1.client.webhooks.add({ url: receiver.url, events: ['turn.completed'] })
    const ids = await Promise.all([...Array(20)].map((_, index) => turn((index % 2 ? n1 : n2).client)))
    await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(20)
    await expect
      .poll(async () => (await n2.client.webhooks.deliveries(webhook.id, { status: 'delivered' })).length)
      .toBe(20)
    expect(receiver.received.map(({ payload }) => payload.data.session).sort()).toEqual([...ids].sort())
    const held = Promise.withResolvers<void>()
    receiver.held = held.promise
    const last = await turn(n1.client)
    await expect.poll(() => receiver.received.length).toBe(21)
    await n1.kill()
    held.resolve()
    await release(await postgresStore({ url: store }), webhook.id)
    await expect
      .poll(async () => (await n2.client.webhooks.deliveries(webhook.id, { status: 'pending' })).length, {
        timeout: 60_000,
      })
      .toBe(0)
    expect(new Set(receiver.received.slice(20).map(({ payload }) => payload.data.session))).toEqual(
      new Set([last]),
    )
  } finally {
    await Promise.all([n1.kill(), n2.kill()])
  }
})
