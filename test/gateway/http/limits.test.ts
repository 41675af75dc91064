import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { Endpoint } from '../../../src/gateway/http/endpoint.ts'
import type { Problem } from '../../../src/gateway/http/problem.ts'
import { endpointsOf } from '../../../src/gateway/routes.ts'
import { StreamQuota } from '../../../src/gateway/streams/stream-quota.ts'
import { MainstemError } from '../../../src/model/index.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { script, success, text } from '../puppet.ts'
import { sendRaw, statusOf } from '../raw.ts'
import { type Options, startGateway, type TestGateway, TOKEN, task } from '../start.ts'
import { parseEvents, StreamReader } from '../streams/sse.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway({
    limits: { bodyBytes: 4096, imageBytes: 8192, jsonDepth: 8, connections: 100 },
  })
})
afterEach(() => server[Symbol.asyncDispose]())

async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/)
  const problem = (await response.json()) as Problem
  expect(problem.status).toBe(response.status)
  expect(problem.advice).not.toBe('')
  return problem
}

const post = (
  body: NonNullable<RequestInit['body']>,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) =>
  fetch(`${server.url}/v1/execute`, {
    method: 'POST',
    headers,
    body,
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  })

describe('a content type', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/problem+json',
  ])('%s is JSON', async (type) => {
    expect((await post(JSON.stringify(task()), { 'content-type': type })).status).toBe(200)
  })

  test.each([
    'text/plain',
    'text/plain; application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'text/json',
    'json',
  ])('%s is not', async (type) => {
    const problem = await problemOf(await post(JSON.stringify(task()), { 'content-type': type }))
    expect(problem).toMatchObject({ status: 415, code: 'unsupported_media' })
  })

  test('must be said', async () => {
    const body = new TextEncoder().encode(JSON.stringify(task()))
    expect((await problemOf(await post(body, {}))).status).toBe(415)
  })

  test('of a compressed body does not help', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const response = await post(new Uint8Array(gzipSync(JSON.stringify(task()))), headers)
    expect((await problemOf(response)).status).toBe(415)
  })
})

describe('a body', () => {
  test('over the limit is rejected, with or without a content length', async () => {
    const long = JSON.stringify({ ...task(), task: 'x'.repeat(5000) })
    expect(await problemOf(await post(long))).toMatchObject({ status: 413, code: 'too_large' })
    const chunks = ReadableStream.from([new TextEncoder().encode(long)])
    expect(await problemOf(await post(chunks))).toMatchObject({ status: 413, code: 'too_large' })
  })

  test('of a route that takes images has a limit of its own', async () => {
    const create = (bytes: number) =>
      fetch(`${server.url}/v1/sessions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify({ agent: 'echo', prompt: 'x'.repeat(bytes) }),
      })
    expect((await create(5_000)).status).toBe(201)
    const problem = await problemOf(await create(9_000))
    expect(problem).toMatchObject({ status: 413, advice: expect.stringContaining('limits.imageBytes') })
  })

  test('of any route whose schema has images is one of these', () => {
    const takesImages = ({ body }: Endpoint) =>
      body !== undefined && JSON.stringify(z.toJSONSchema(body, { io: 'input' })).includes('"images"')
    const routes = endpointsOf(server.deps)
    const expected = routes.filter(takesImages)
    expect(expected.length).toBeGreaterThan(1)
    expect(routes.filter((route) => route.takesImages)).toEqual(expected)
  })

  test.each(['', '{', '"text', 'nul', '{"task":"secret"'])('%j is not JSON', async (body) => {
    const problem = await problemOf(await post(body))
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request', field: 'body' })
    expect(JSON.stringify(problem)).not.toContain('secret')
  })

  test('that is not UTF-8 is refused instead of changed', async () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ ...task(), task: '#' }))
    bytes[bytes.indexOf('#'.charCodeAt(0))] = 0xff
    expect(await problemOf(await post(bytes))).toMatchObject({ status: 400, field: 'body' })
  })

  test.each(['null', '[]', '7', '"text"', 'true'])('%s is JSON, but no task', async (body) => {
    const response = await post(body, {
      'content-type': 'application/json',
      authorization: `Bearer ${TOKEN}`,
    })
    expect(await problemOf(response)).toMatchObject({ status: 400, field: 'body' })
  })

  test('nested too deeply is refused', async () => {
    const deep = `${'['.repeat(9)}${']'.repeat(9)}`
    expect((await problemOf(await post(`{"policy":${deep}}`))).detail).toContain('nested')
    const deepest = '['.repeat(4000)
    expect((await problemOf(await post(deepest))).status).toBe(400)
  })

  test('cannot reach the prototype of anything', async () => {
    const before = Object.getOwnPropertyNames(Object.prototype)
    for (const poison of [
      '{"__proto__":{"isAdmin":true}}',
      '{"policy":{"\\u005f_proto__":{"isAdmin":true}}}',
    ]) {
      expect(await problemOf(await post(poison))).toMatchObject({ status: 400, field: '__proto__' })
    }
    const built = { ...task(), constructor: { prototype: { isAdmin: true } } }
    expect(await problemOf(await post(JSON.stringify(built)))).toMatchObject({ field: 'constructor' })
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
    expect('isAdmin' in {}).toBe(false)
  })
})

describe('a connection', () => {
  test('whose headers do not arrive is closed with a reason', async () => {
    await using slow = await startGateway({
      timing: { keepaliveMs: 60_000, pingMs: 60_000, stallMs: 60_000, headersMs: 40, requestMs: 80 },
    })
    const response = await sendRaw(slow.port, 'POST /v1/execute HTTP/1.1\r\nhost: localhost\r\nx-slow: ')
    expect(statusOf(response)).toBe(408)
    expect(response).toContain('application/problem+json')
  })

  test('whose body does not arrive is closed with a reason', async () => {
    await using slow = await startGateway({
      timing: { keepaliveMs: 60_000, pingMs: 60_000, stallMs: 60_000, headersMs: 40, requestMs: 80 },
    })
    const head = `host: localhost\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: application/json`
    const body = 'content-length: 9\r\n\r\n{"agent"'
    for (const path of ['/v1/sessions', '/nowhere']) {
      const response = await sendRaw(slow.port, `POST ${path} HTTP/1.1\r\n${head}\r\n${body}`)
      expect(statusOf(response), path).toBe(408)
    }
  })

  test('that is not HTTP gets an error', async () => {
    const response = await sendRaw(server.port, 'EHLO localhost\r\n\r\n')
    expect(statusOf(response)).toBe(400)
    expect(response).toContain('"code":"invalid_request"')
  })

  test('with endless headers gets an error', async () => {
    const header = `x-long: ${'x'.repeat(20_000)}`
    const response = await sendRaw(
      server.port,
      `GET /healthz HTTP/1.1\r\nhost: localhost\r\n${header}\r\n\r\n`,
    )
    expect(statusOf(response)).toBe(431)
  })

  test('with a path that cannot be decoded gets an error', async () => {
    expect(await problemOf(await fetch(`${server.url}/%zz`))).toMatchObject({ status: 400 })
  })
})

const waiting = {
  driver: 'puppet',
  task: script(text('m1', 'one'), { ...text('m2', 'two'), wait: true }, success),
}

test('an idle stream shows that it is alive', async () => {
  const timing = { keepaliveMs: 5, pingMs: 60_000, stallMs: 60_000, headersMs: 10_000, requestMs: 30_000 }
  await using quiet = await startGateway({ timing })
  const reader = new StreamReader(await quiet.execute(waiting))
  await reader.until('"one"')
  await reader.until(': keepalive\n\n: keepalive\n\n')
  await quiet.gate.open()
  const events = parseEvents(await reader.whole())
  expect(events.map(({ id }) => id)).toEqual(['3', '4', '5'])
})

test('the streams of one principal are limited', async () => {
  await using small = await startGateway({ streams: new StreamQuota(1) })
  const first = await small.execute(waiting)
  const second = await small.execute(waiting)
  expect(await problemOf(second)).toMatchObject({ status: 503, code: 'overloaded' })
  expect(second.headers.get('retry-after')).toMatch(/^\d+$/)
  await small.gate.open()
  await first.text()
  await small.deps.runs.done()
  expect((await small.execute(waiting)).status).toBe(200)
})

test('a client that reads nothing is disconnected, uses little memory, and can resume', {
  timeout: 30_000,
}, async () => {
  const store = memoryStore()
  const read = store.read.bind(store)
  let entriesRead = 0
  store.read = async (...range) => {
    const entries = await read(...range)
    entriesRead += entries.length
    return entries
  }
  const timing = { keepaliveMs: 60_000, pingMs: 60_000, stallMs: 1_500, headersMs: 10_000, requestMs: 30_000 }
  await using busy = await startGateway({ timing, store })
  const texts = 20_000
  const body = { driver: 'puppet', task: script({ flood: { texts, size: 2500 } }, success) }
  const posted = JSON.stringify({ ...task(), ...body })
  const closed = new Promise<boolean>((resolve) => {
    busy.app.server.once('request', (_, response) => {
      response.once('close', () => resolve(response.writableFinished))
    })
  })
  const socket = connect(busy.port, '127.0.0.1')
  socket.pause()
  socket.write(
    `POST /v1/execute HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${posted.length}\r\n\r\n${posted}`,
  )
  expect(await closed).toBe(false)
  socket.destroy()
  // The rest of the log was left where it is.
  expect(entriesRead).toBeLessThan(texts / 2)
  const events = parseEvents(await (await busy.execute(body)).text())
  expect(events).toHaveLength(texts + 1)
  expect(events.at(-1)?.data).toMatchObject({ kind: 'session_end', exit_code: 0 })
})

describe('a server that', () => {
  const phased = (phase: 'starting' | 'draining'): Options => ({ phase: () => phase })

  test.each(['starting', 'draining'] as const)(
    'is %s is alive, is not ready, and accepts no work',
    async (phase) => {
      await using other = await startGateway(phased(phase))
      expect((await fetch(`${other.url}/healthz`)).status).toBe(200)
      for (const response of [await fetch(`${other.url}/readyz`), await other.execute()]) {
        expect(await problemOf(response)).toMatchObject({ status: 503 })
        expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
      }
    },
  )

  test('is ready reports so', async () => {
    expect(await (await fetch(`${server.url}/readyz`)).json()).toEqual({ status: 'ready' })
  })

  test('cannot store reports so, and starts nothing', async () => {
    const store = memoryStore()
    store.create = async () => {
      throw new MainstemError('storage_failed', 'the disk is full')
    }
    await using full = await startGateway({ store })
    expect(await problemOf(await full.execute())).toMatchObject({ status: 503, code: 'storage_failed' })
  })

  test('cannot read its store breaks the stream off instead of ending it', async () => {
    const store = memoryStore()
    store.read = async () => {
      throw new MainstemError('storage_failed', 'the disk is gone')
    }
    await using broken = await startGateway({ store })
    await expect((await broken.execute()).text()).rejects.toThrow()
    expect(broken.reported).toEqual([expect.objectContaining({ code: 'storage_failed' })])
  })
})
