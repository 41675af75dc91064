import { rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Emitted } from '../../../src/agents/agent.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { sqliteStore } from '../../../src/stores/sqlite.ts'
import type { Store } from '../../../src/stores/store.ts'
import { newDirectory } from '../../stores/sqlite-parts.ts'
import { begin, call, fetchFrom } from '../api.ts'
import { script, success, text } from '../puppet.ts'
import { GUEST, startGateway, type TestGateway } from '../start.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const waiting = script(text('m', 'one'), { ...success, wait: true })
const policy = { approval: 'auto-edit', sandbox: 'none' }
const hex = (letter: string) => letter.charCodeAt(0).toString(16)
const keyed = (key: string) => ({ 'idempotency-key': key })

/** Every command to a session that a key can be sent with, and what makes it possible. */
const COMMANDS = [
  ['turns', { prompt: script(success) }, { prompt: script(text('m', 'other'), success) }],
  ['steer', { prompt: 'left' }, { prompt: 'right' }],
  ['model', { model: 'large' }, { model: 'small' }],
  ['mode', { policy }, { policy: { ...policy, approval: 'ask' } }],
  ['interrupt', undefined, undefined],
  ['end', undefined, undefined],
] as const

describe.each(COMMANDS)('%s with an Idempotency-Key', (command, body) => {
  const post = (id: string, key: string) =>
    fetchFrom(server, `POST /v1/sessions/${id}/${command}`, { headers: keyed(key), body })

  test('is done once, and answered the same byte for byte', async () => {
    const id = await begin(server, { agent: 'able', prompt: waiting })
    await server.gate.reached()
    const first = await post(id, 'k')
    expect(first.ok, await first.clone().text()).toBe(true)
    const { head } = (await server.sessions.record(id)) ?? {}
    const second = await post(id, 'k')
    expect([second.status, await second.text()]).toEqual([first.status, await first.text()])
    expect(first.headers.get('idempotent-replayed')).toBeNull()
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect((await server.sessions.record(id))?.head).toBe(head)
  })

  test.each([
    ['with a slash at its end', (path: string) => `${path}/`],
    ['with a letter as its number', (path: string) => path.replace(/.$/, (end) => `%${hex(end)}`)],
  ])('is the same call when its path is written %s', async (_, written) => {
    const id = await begin(server, { agent: 'able', prompt: waiting })
    await server.gate.reached()
    const first = await post(id, 'k')
    const path = written(`/v1/sessions/${id}/${command}`)
    const second = await fetchFrom(server, `POST ${path}`, { headers: keyed('k'), body })
    expect([second.status, await second.text()]).toEqual([first.status, await first.text()])
    expect(second.headers.get('idempotent-replayed')).toBe('true')
  })

  test('in another session is another key', async () => {
    for (const _ of [1, 2]) {
      const id = await begin(server, { agent: 'able', prompt: waiting })
      await server.gate.reached()
      const answer = await post(id, 'k')
      expect([answer.ok, answer.headers.get('idempotent-replayed')]).toEqual([true, null])
    }
  })
})

test.each(COMMANDS.filter(([, , other]) => other))(
  '%s with the same key and another body is refused',
  async (command, body, other) => {
    const id = await begin(server, { agent: 'able', prompt: waiting })
    await server.gate.reached()
    const post = (sent: unknown) =>
      call(server, `POST /v1/sessions/${id}/${command}`, { headers: keyed('k'), body: sent })
    expect((await post(body)).status).toBeLessThan(300)
    expect(await post(other)).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } })
  },
)

/** A store that holds up whatever uses a key up. */
function slow(store: Store) {
  const arrived = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const append = store.append.bind(store)
  store.append = async (session, batch, fence) => {
    if (batch.receipts) {
      arrived.resolve()
      await released.promise
    }
    await append(session, batch, fence)
  }
  return { arrived: arrived.promise, go: () => released.resolve() }
}

test('an equal request joins the first one, which has no answer yet; another body is a conflict', async () => {
  const store = memoryStore()
  await using own = await startGateway({ store })
  const id = await begin(own)
  const { arrived, go } = slow(store)
  const post = (prompt: string) =>
    call(own, `POST /v1/sessions/${id}/turns`, { headers: keyed('k'), body: { prompt } })
  const first = post(script(success))
  await arrived
  const second = post(script(success))
  expect(await post('other')).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } })
  go()
  expect((await first).body).toEqual({ turn: 1 })
  expect(await second).toMatchObject({ status: 202, body: { turn: 1 } })
  expect(await post(script(success))).toMatchObject({ status: 202, body: { turn: 1 } })
  await own.sessions.get(id)?.settled(1)
})

test('twenty at once have one effect', async () => {
  const id = await begin(server)
  const body = { prompt: script(success) }
  const post = () => call(server, `POST /v1/sessions/${id}/turns`, { headers: keyed('k'), body })
  const answers = await Promise.all(Array.from({ length: 20 }, post))
  for (const answer of answers) expect(answer).toMatchObject({ status: 202, body: { turn: 1 } })
  await server.sessions.get(id)?.settled(1)
  expect((await server.sessions.record(id))?.turns).toBe(1)
})

test.each([
  ['POST /v1/sessions', { agent: 'puppet', prompt: script(success) }, 201],
  ['POST /api/sessions', { agentType: 'puppet', prompt: script(success) }, 201],
] as const)('twenty at once with one key create one session: %s', async (route, body, status) => {
  await using own = await startGateway()
  const post = () => call(own, route, { headers: keyed('k'), body })
  const answers = await Promise.all(Array.from({ length: 20 }, post))
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status))
  expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
})

test('a command that was refused leaves its key free', async () => {
  const id = await begin(server, { agent: 'able' })
  const steer = () =>
    call(server, `POST /v1/sessions/${id}/steer`, { headers: keyed('k'), body: { prompt: 'x' } })
  expect(await steer()).toMatchObject({ status: 409 })
  await call(server, `POST /v1/sessions/${id}/turns`, { body: { prompt: waiting } })
  await server.gate.reached()
  expect((await steer()).status).toBe(200)
})

test('an interrupt that is repeated late does not stop the turn after it', async () => {
  const id = await begin(server, { agent: 'able', prompt: waiting })
  await server.gate.reached()
  const stop = () => call(server, `POST /v1/sessions/${id}/interrupt`, { headers: keyed('k') })
  const first = await stop()
  expect(first.body).toMatchObject({ status: 'idle', lastOutcome: 'interrupted' })
  await call(server, `POST /v1/sessions/${id}/turns`, { body: { prompt: waiting } })
  await server.gate.reached()
  expect((await stop()).body).toEqual(first.body)
  expect(await server.sessions.record(id)).toMatchObject({ status: 'busy', openTurn: 2 })
  await server.gate.open()
  expect(await server.sessions.get(id)?.settled(2)).toMatchObject({ outcome: 'completed' })
})

test('an answer that is repeated is no second decision', async () => {
  const request: Emitted = {
    type: 'request.opened',
    requestId: 'r',
    kind: 'permission',
    blocking: true,
    options: [],
  }
  const id = await begin(server, {
    agent: 'able',
    prompt: script({ say: request }, { ...success, wait: true }),
  })
  await expect.poll(async () => (await server.sessions.record(id))?.requests.length).toBe(1)
  const { inputDigest } = (await server.sessions.record(id))?.requests[0] ?? {}
  const answer = (key?: string) =>
    call(server, `POST /v1/sessions/${id}/requests/r`, {
      body: { decision: 'allow', inputDigest },
      ...(key && { headers: keyed(key) }),
    })
  const first = await answer('k')
  expect(first.status).toBe(200)
  expect((await answer('k')).body).toEqual(first.body)
  expect(await answer()).toMatchObject({ status: 409, body: { winner: { decision: 'allow' } } })
})

test('of two principals a key is two keys', async () => {
  for (const token of [undefined, GUEST]) {
    const options = token ? { token } : {}
    const id = await begin(server, {}, options)
    const answer = await call(server, `POST /v1/sessions/${id}/end`, { ...options, headers: keyed('k') })
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, null])
  }
})

test('a key is known to the next owner of the store', async () => {
  const directory = newDirectory()
  const post = (own: TestGateway, id: string) =>
    call(own, `POST /v1/sessions/${id}/turns`, { headers: keyed('k'), body: { prompt: script(success) } })
  let id = ''
  {
    await using store = await sqliteStore({ directory })
    await using own = await startGateway({ store })
    id = await begin(own)
    expect((await post(own, id)).body).toEqual({ turn: 1 })
    await own.sessions.get(id)?.settled(1)
  }
  {
    await using store = await sqliteStore({ directory })
    await using own = await startGateway({ store })
    const again = await post(own, id)
    expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([{ turn: 1 }, 'true'])
    expect((await own.sessions.record(id))?.turns).toBe(1)
  }
  rmSync(directory, { recursive: true })
})
