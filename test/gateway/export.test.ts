import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Emitted } from '../../src/agents/agent.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { FIRST_FENCE } from '../../src/stores/store.ts'
import { begin, call, fetchFrom, finished, streamed } from './api.ts'
import { script, success, text } from './puppet.ts'
import { GUEST, startGateway, type TestGateway } from './start.ts'

const store = memoryStore()
let server: TestGateway
beforeEach(async () => {
  server = await startGateway({ store })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

async function exported(id: string): Promise<Record<string, never>[]> {
  const response = await fetchFrom(server, `GET /v1/sessions/${id}/export`)
  expect(response.headers.get('content-type')).toBe('application/x-ndjson')
  expect(response.headers.get('content-disposition')).toContain(id)
  const lines = (await response.text()).trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line))
}

test('an export has the record, every entry, every raw frame, and an end line', async () => {
  const id = await finished(
    server,
    script(...Array.from({ length: 700 }, (_, n) => text(`m${n}`, 'x')), success),
  )
  const lines = await exported(id)
  const entries = (await streamed(server, `/v1/sessions/${id}/events`)).map(({ data }) => data)
  const frames = await store.readJournal(id, 0, 10_000)
  // Three were sent: the start, the handshake and the prompt.
  expect(frames).toHaveLength(704)
  expect(lines[0]).toMatchObject({ record: { id, status: 'ended' } })
  expect(lines.slice(1, 1 + entries.length)).toEqual(entries.map((entry) => ({ entry })))
  expect(lines.slice(1 + entries.length, -1)).toEqual(frames.map((frame) => ({ frame })))
  const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/)
  expect(lines.at(-1)).toEqual({ end: { entries: entries.length, frames: 704, sha256 } })
  expect(server.deps.streams.open).toBe(0)
})

test('an export whose session is removed midway breaks off and has no end line', async () => {
  const removing = memoryStore()
  const read = removing.read.bind(removing)
  removing.read = async (id, after, limit) => {
    if (after > 0) await removing.delete(id)
    return read(id, after, limit)
  }
  await using other = await startGateway({ store: removing })
  const id = await finished(
    other,
    script(...Array.from({ length: 700 }, (_, n) => text(`m${n}`, 'x')), success),
  )
  const response = await fetchFrom(other, `GET /v1/sessions/${id}/export`)
  await expect(response.text()).rejects.toThrow()
})

test('an export of a trimmed session starts at the first retained entry', async () => {
  const id = await finished(server, script(text('m', 'x'), success))
  await store.trim(id, { seq: 4, frame: 99 }, FIRST_FENCE)
  const lines = await exported(id)
  expect(lines[0]).toMatchObject({ record: { earliest: 4, earliestFrame: 6 } })
  expect(lines[1]).toMatchObject({ entry: { seq: 4 } })
  expect(lines.at(-1)).toMatchObject({ end: { frames: 0 } })
})

test('raw frames are read page by page, in both directions and one order', async () => {
  const prompt = script(text('m', 'x'), success)
  const id = await finished(server, prompt)
  const pages: Record<string, unknown>[] = []
  for (let after = 0; ; ) {
    const { body } = await call(server, `GET /v1/sessions/${id}/frames?limit=2&after=${after}`)
    const frames = body.frames as { frame: number; stream: string; text: string }[]
    if (frames.length === 0) break
    expect(frames.length).toBeLessThanOrEqual(2)
    pages.push(...frames)
    after = Number(body.next)
  }
  expect(pages).toEqual(await store.readJournal(id, 0, 100))
  expect(pages.map(({ stream }) => stream)).toEqual(['sent', 'sent', 'sent', 'stdout', 'stdout'])
  expect(JSON.parse(String(pages[2]?.text)).command).toMatchObject({ type: 'prompt', text: prompt })
  await store.trim(id, { frame: 4 }, FIRST_FENCE)
  expect((await call(server, `GET /v1/sessions/${id}/frames`)).body.frames).toHaveLength(2)
  expect(await call(server, `GET /v1/sessions/${id}/frames?after=1`)).toMatchObject({ status: 410 })
})

test('coverage accounts for every frame, over more than one owner', async () => {
  const odd = { say: 'not an event' }
  const id = await begin(server, { prompt: script(text('m', 'x'), odd, success) })
  await server.sessions.get(id)?.settled(1)
  const answer = await call(server, `GET /v1/sessions/${id}/coverage`)
  const expected = { frames: 3, mapped: 2, unmapped: 1, malformed: 0, oversized: 0, unaccounted: 0 }
  expect(answer.body).toEqual(expected)
  await server.sessions.drain()
  await using next = await startGateway({ store })
  await call(next, `POST /v1/sessions/${id}/turns`, { body: { prompt: script(success) } })
  await next.sessions.get(id)?.settled(2)
  const again = await call(next, `GET /v1/sessions/${id}/coverage`)
  expect(again.body).toEqual({ ...expected, frames: 4, mapped: 3 })
})

test('coverage of a session without agent output is zero', async () => {
  const id = await begin(server)
  expect((await call(server, `GET /v1/sessions/${id}/coverage`)).body).toMatchObject({
    frames: 0,
    unaccounted: 0,
  })
})

test.each(['export', 'coverage', 'frames'])('%s of another principal does not exist', async (what) => {
  const id = await begin(server)
  expect(await call(server, `GET /v1/sessions/${id}/${what}`, { token: GUEST })).toMatchObject({
    status: 404,
  })
})

test('usage is still counted after its session is removed', async () => {
  const usage = { input: 3, costUsd: 0.5 }
  const spent: Emitted = { type: 'turn.verdict', evidence: 'success', denials: 0, personDenials: 0, usage }
  const before = (await call(server, 'GET /v1/usage', { token: GUEST })).body.total
  expect(before).toEqual({ sessions: 0, turns: 0, usage: {} })
  const own = { token: GUEST }
  const id = await begin(server, { prompt: script({ say: spent }) }, own)
  await server.sessions.get(id)?.settled(1)
  expect((await fetchFrom(server, `DELETE /v1/sessions/${id}`, own)).status).toBe(204)
  expect((await call(server, 'GET /v1/usage', own)).body.total).toEqual({ sessions: 1, turns: 1, usage })
})
