import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { BoundedLog } from '../../src/daemon/bounded-log.ts'
import { untilIdle } from '../../src/daemon/idle-exit.ts'
import { listenOnSocket, socketIn } from '../../src/daemon/local-socket.ts'
import { socketFetch } from '../../src/daemon/node-fetch.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'

const home = mkdtempSync(join(tmpdir(), 'socket-'))
afterAll(() => rmSync(home, { recursive: true }))

test('a server answers on its socket, in place of one that a killed server left', async () => {
  const path = join(home, 'left.sock')
  writeFileSync(path, '')
  const server = createServer((request, response) => {
    response.setHeader('x-host', request.headers.host ?? '')
    response.statusCode = request.url === '/missing' ? 404 : 200
    request.pipe(response)
  })
  const socket = await listenOnSocket(path, server)
  const fetch = socketFetch(path)
  const answer = await fetch('http://anything/echo?a=1', { method: 'POST', body: 'hello' })
  expect([answer.ok, answer.status, answer.headers.get('X-Host')]).toEqual([true, 200, 'localhost'])
  expect(await answer.text()).toBe('hello')
  expect((await fetch('http://anything/missing', {})).ok).toBe(false)
  await socket[Symbol.asyncDispose]()
  await expect(fetch('http://anything/', {})).rejects.toMatchObject({ code: 'ENOENT' })
})

test('a path that is too long for a socket has none', () => {
  const long = join(home, 'x'.repeat(100))
  expect(socketIn(long)).toMatch(/^\/tmp\/mainstem-\d+\/[0-9a-f]{32}\.sock$/)
  expect(socketIn(`${long}y`)).not.toBe(socketIn(long))
  expect(socketIn('/data')).toBe('/data/daemon.sock')
})

/** A clock that is moved by hand: each `tick` ends one sleep. */
function manualTimers() {
  const sleeps: (() => void)[] = []
  return {
    timers: { sleep: () => new Promise<void>((resolve) => sleeps.push(resolve)) },
    async tick() {
      await expect.poll(() => sleeps.length).toBe(1)
      sleeps.shift()?.()
    },
  }
}

test('a server is idle after a time without requests, open streams and running turns', async () => {
  const server = createServer()
  const { timers, tick } = manualTimers()
  let busy = true
  let done = false
  const { signal } = new AbortController()
  const idle = untilIdle({ server, isBusy: async () => busy, idleMs: 1, timers, signal }).then(() => {
    done = true
  })
  const stream = { once: (_: string, listener: () => void) => closed.push(listener) }
  const closed: (() => void)[] = []
  await tick()
  busy = false
  server.emit('request', {}, stream)
  await tick()
  await tick()
  expect(done).toBe(false)
  closed[0]?.()
  await tick()
  await tick()
  await idle
  expect(done).toBe(true)
})

test('a log is moved aside when it is too large', () => {
  const path = join(home, 'daemon.log')
  const log = new BoundedLog(path, 40)
  for (const line of ['one', 'two', 'three', 'four']) log.append(JSON.stringify({ message: line }))
  const texts = [path, `${path}.1`].map((file) => readFileSync(file, 'utf8').length)
  expect(Math.max(...texts)).toBeLessThan(100)
  expect(readFileSync(path, 'utf8')).toContain('four')
})

test('a log that cannot be written ends nothing, and states later how many lines are missing', () => {
  const path = join(home, 'blocked', 'daemon.log')
  const log = new BoundedLog(path)
  for (const line of ['one', 'two']) log.append(JSON.stringify({ message: line }))
  mkdirSync(join(home, 'blocked'))
  for (const line of ['three', 'four']) log.append(JSON.stringify({ message: line }))
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).message)).toEqual([
    '2 lines could not be written',
    'three',
    'four',
  ])
})

test('a store that another process has open is refused with the way out', async () => {
  const options = { directory: join(home, 'log'), durability: 'process' } as const
  const store = await sqliteStore(options)
  try {
    await expect(sqliteStore(options)).rejects.toMatchObject({
      details: { locked: true, advice: expect.stringContaining('mainstem daemon stop') },
    })
  } finally {
    await store[Symbol.asyncDispose]()
  }
})
