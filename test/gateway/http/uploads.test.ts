import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { checkValueCount } from '../../../src/gateway/http/body/json.ts'
import { UploadRoom } from '../../../src/gateway/http/body/upload-room.ts'
import { GUEST, startGateway, type TestGateway, TOKEN, task } from '../start.ts'

const MB = 1024 * 1024
const NDJSON = { 'content-type': 'application/x-ndjson' }

/** A request whose body has begun, and does not end before `close`. */
function begun(server: TestGateway, path: string, headers: Record<string, string>, first: string) {
  const end = Promise.withResolvers<void>()
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(new TextEncoder().encode(first)),
    async pull(stream) {
      await end.promise
      stream.close()
    },
  })
  const response = fetch(server.url + path, { method: 'POST', headers, body, duplex: 'half' })
  return { response, close: end.resolve }
}

const importing = (server: TestGateway, token: string) =>
  begun(server, '/v1/sessions/import', { ...NDJSON, authorization: `Bearer ${token}` }, '{')

test('bodies and lines of single bytes need little more memory than their bytes', async () => {
  const script = join(import.meta.dirname, 'one-byte-chunks.ts')
  // A list of the chunks would take several times this heap.
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=24', script])
  expect(JSON.parse(stdout)).toEqual([Array(6).fill(300_000), 0])
})

test('imports of a token beyond eight are refused until one ends; another token is not affected', async () => {
  await using server = await startGateway()
  const open = Array.from({ length: 8 }, () => importing(server, TOKEN))
  await expect.poll(() => server.deps.uploads.imports('owner')).toBe(8)
  const surplus = importing(server, TOKEN)
  const refused = await surplus.response
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(await refused.json()).toMatchObject({
    code: 'overloaded',
    detail: expect.stringContaining('8 imports'),
  })
  const other = importing(server, GUEST)
  await expect.poll(() => server.deps.uploads.imports('guest')).toBe(1)
  for (const { close } of [...open, other]) close()
  const statuses = await Promise.all([...open, other].map(async ({ response }) => (await response).status))
  expect(new Set(statuses)).toEqual(new Set([400]))
  expect(server.deps.uploads.held).toBe(0)
})

test('bodies that do not fit into the memory of their caller are refused, and those of others are accepted', async () => {
  await using server = await startGateway({ uploads: new UploadRoom(1024 * 1024) })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` }
  const large = JSON.stringify({ ...task(), task: 'x'.repeat(200_000) })
  const first = begun(server, '/v1/execute', headers, large.slice(0, -1))
  await expect.poll(() => server.deps.uploads.held).toBeGreaterThan(200_000)
  const second = await fetch(`${server.url}/v1/execute`, { method: 'POST', headers, body: large })
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '5'])
  // A body that comes in one packet is never held, so it needs no room.
  const small = await fetch(`${server.url}/v1/execute`, {
    method: 'POST',
    headers,
    body: JSON.stringify(task()),
  })
  expect(small.status).toBe(200)
  await small.text()
  const guest = { ...headers, authorization: `Bearer ${GUEST}` }
  const body = JSON.stringify({ ...task(), auth_token: GUEST, task: 'x'.repeat(150_000) })
  const others = await fetch(`${server.url}/v1/execute`, { method: 'POST', headers: guest, body })
  expect(others.status).toBe(200)
  await others.text()
  first.close()
  expect((await first.response).status).toBe(400)
  await expect.poll(() => server.deps.uploads.held).toBe(0)
})

describe('the memory of uploads', () => {
  const from = (principal: string, address = 'a') => ({ principal, address })

  test('is limited for each principal, each address without a token, and all', () => {
    const room = new UploadRoom(8 * MB)
    room.enter(from('one'), 'body').hold(2 * MB)
    const more = room.enter(from('one'), 'body')
    expect(() => more.hold(1)).toThrow(/memory for request bodies/)
    for (const address of ['a', 'b']) room.enter(from('', address), 'body').hold(2 * MB)
    expect(() => room.enter(from('', 'c'), 'body').hold(1)).toThrow(/memory/)
    room.enter(from('two'), 'body').hold(2 * MB)
    expect(() => room.enter(from('three'), 'body').hold(1)).toThrow(/memory/)
    expect(room.held).toBe(8 * MB)
  })

  test('admits one body of any size where nothing else is held, and returns it', () => {
    const room = new UploadRoom(4 * MB)
    const alone = room.enter(from('one'), 'import')
    alone.hold(3 * MB)
    alone.hold(64 * MB)
    expect(() => room.enter(from('two'), 'body').hold(1)).toThrow(/memory/)
    alone.hold(MB)
    room.enter(from('two'), 'body').hold(1)
    alone.leave()
    expect(room.held).toBe(1)
  })
})

test('JSON with more values than fit into memory is refused before it is parsed', () => {
  const bomb = Buffer.from(`[${'{},'.repeat(1_000_000)}{}]`)
  expect(() => checkValueCount(bomb, 'line 7')).toThrow('line 7: more than 1000000 values')
  const text = Buffer.from(JSON.stringify({ text: '{},[\\"\\\\'.repeat(400_000) }))
  expect(() => checkValueCount(text, 'line 7')).not.toThrow()
})
