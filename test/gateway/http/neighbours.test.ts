import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { listenOnSocket } from '../../../src/daemon/local-socket.ts'
import { socketFetch } from '../../../src/daemon/node-fetch.ts'
import { tokenOf } from '../../../src/gateway/http/auth.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { Store } from '../../../src/stores/store.ts'
import { call } from '../api.ts'
import { sendRaw, statusOf } from '../raw.ts'
import { GUEST, startGateway, type TestGateway, TOKEN } from '../start.ts'

const held: Socket[] = []
afterEach(() => {
  for (const socket of held.splice(0)) socket.destroy()
})

/** Sends bytes on a new connection, and reads nothing of the response. */
async function send({ port }: TestGateway, bytes: string): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' })
  held.push(socket)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.pause()
  socket.write(bytes)
}

/** Sends bytes after a request that was answered, so that the server knows the token of the connection. */
async function sendTrusted(server: TestGateway, bytes: string): Promise<void> {
  const socket = connect({ port: server.port, host: '127.0.0.1' })
  held.push(socket)
  socket.on('error', () => undefined)
  socket.write(head('GET /v1/agents'))
  await Promise.race([once(socket, 'data'), once(socket, 'close')])
  socket.write(bytes)
}

const head = (route: string, more = '', token = GUEST) =>
  `${route} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n${more}\r\n`
const SLOW_BODY = `${head('POST /v1/sessions', 'content-type: application/json\r\ncontent-length: 999\r\n')}{`

/** Lists the sessions of the owner, each time on a new connection: the statuses, and the slowest but one of a hundred. */
async function neighbour(server: TestGateway) {
  const statuses = new Set<number>()
  const times: number[] = []
  for (let count = 0; count < 100; count++) {
    const begin = performance.now()
    const response = await sendRaw(server.port, head('GET /v1/sessions', 'connection: close\r\n', TOKEN))
    times.push(performance.now() - begin)
    statuses.add(statusOf(response))
  }
  return { statuses: [...statuses], p99: times.toSorted((a, b) => a - b)[98] ?? 0 }
}

async function compared(name: string, server: TestGateway, attack: () => Promise<void>): Promise<void> {
  const alone = await neighbour(server)
  await attack()
  const attacked = await neighbour(server)
  const ms = ({ p99 }: typeof alone) => `${p99.toFixed(1)} ms`
  console.log(
    `${name}: p99 ${ms(attacked)}, alone ${ms(alone)}, ratio ${(attacked.p99 / alone.p99).toFixed(2)}`,
  )
  expect(attacked.statuses).toEqual([200])
}

describe('a principal is served while another one', () => {
  test('sends 1,100 bodies that never end; the unix socket answers too', { timeout: 30_000 }, async () => {
    const unixSockets = new WeakSet<Socket>()
    const limits = { bodyBytes: 1024 * 1024, imageBytes: 16 * 1024 * 1024, jsonDepth: 64, connections: 1024 }
    await using server = await startGateway({ limits, unixSockets })
    const folder = mkdtempSync(join(tmpdir(), 'neighbours-'))
    const path = join(folder, 's')
    const local = await listenOnSocket(path, server.app.server, unixSockets)
    await compared('slow bodies', server, async () => {
      for (let count = 0; count < 1100; count++) await sendTrusted(server, SLOW_BODY)
    })
    const headers = { authorization: `Bearer ${GUEST}` }
    expect((await socketFetch(path)('http://localhost/v1/sessions', { headers })).status).toBe(200)
    for (const socket of held.splice(0)) socket.destroy()
    await local[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  test('reads nothing of 120 pages with a large entry', { timeout: 30_000 }, async () => {
    await using server = await startGateway()
    const { id } = await server.sessions.create({ agent: 'echo', cwd: server.root, principal: 'guest' })
    const session = server.sessions.get(id)
    const turn = await session?.prompt('x'.repeat(12 * 1024 * 1024))
    await session?.settled(turn ?? 1)
    await compared('unread pages', server, async () => {
      for (let count = 0; count < 120; count++)
        await send(server, head(`GET /v1/sessions/${id}/events?after=0`))
    })
    // The owner also has a page with a large entry.
    const own = await server.sessions.create({ agent: 'echo', cwd: server.root, principal: 'owner' })
    await server.sessions.get(own.id)?.settled(await own.prompt('y'.repeat(1024 * 1024)))
    expect((await call(server, `GET /v1/sessions/${own.id}/events?after=0`)).status).toBe(200)
    for (const socket of held.splice(0)) socket.destroy()
  })

  test('leaves tickets unused', async () => {
    await using server = await startGateway()
    for (let count = 0; count < 1_100; count++) await server.deps.tickets.issue(tokenOf('guest', GUEST))
    expect((await call(server, 'POST /v1/tickets', { token: GUEST })).status).toBe(201)
    expect((await call(server, 'POST /v1/tickets')).status).toBe(201)
  })

  test('searches without pause: one of its searches runs at a time', async () => {
    const store = memoryStore()
    const running: string[] = []
    const release = Promise.withResolvers<void>()
    const search: Store['search'] = async (query) => {
      running.push(query.principal)
      if (query.principal === 'guest') await release.promise
      return store.search(query)
    }
    const slow = new Proxy(store, {
      get(target, name) {
        if (name === 'search') return search
        const value = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    await using server = await startGateway({ store: slow })
    let refused = 0
    const searches = Array.from({ length: 40 }, async () => {
      const answer = await call(server, 'GET /v1/search?q=x', { token: GUEST })
      if (answer.status === 503) refused++
      return answer
    })
    await expect.poll(() => running).toEqual(['guest'])
    expect((await call(server, 'GET /v1/search?q=x')).status).toBe(200)
    expect(running).toEqual(['guest', 'owner'])
    await expect.poll(() => refused).toBe(7)
    release.resolve()
    const statuses = (await Promise.all(searches)).map(({ status }) => status)
    expect(Map.groupBy(statuses, (status) => status).get(200)).toHaveLength(33)
    expect(Map.groupBy(statuses, (status) => status).get(503)).toHaveLength(7)
  })
})

test('a search with more than 16 words is refused', async () => {
  await using server = await startGateway()
  const words = (count: number) => Array.from({ length: count }, () => 'a').join('+')
  expect((await call(server, `GET /v1/search?q=${words(16)}`)).status).toBe(200)
  const { status, body } = await call(server, `GET /v1/search?q=${words(17)}`)
  expect([status, body.message ?? body.detail]).toEqual([400, expect.stringContaining('17 words')])
})

test('a token can open most connections, but never the last ones', async () => {
  const limits = { bodyBytes: 1024, imageBytes: 1024, jsonDepth: 64, connections: 16 }
  await using server = await startGateway({ limits })
  for (let count = 0; count < 40; count++) await sendTrusted(server, SLOW_BODY)
  const get = (token: string) => call(server, 'GET /v1/agents', { token })
  await expect.poll(async () => (await get(GUEST)).status).toBe(503)
  expect((await get(TOKEN)).status).toBe(200)
  for (const socket of held.splice(0)) socket.destroy()
  await expect.poll(async () => (await get(GUEST)).status).toBe(200)
})
