import { setTimeout } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { memoryStore } from '../../src/stores/memory.ts'
import { FIRST_FENCE } from '../../src/stores/store.ts'
import { runs } from '../long.ts'
import { begin, call, fetchFrom, finished } from './api.ts'
import { exportOf, forgedExport, importInto, linesOf, STORES, TYPE } from './exports.ts'
import { type Cue, script, success, text } from './puppet.ts'
import { GUEST, startGateway, TOKEN } from './start.ts'

describe.each(STORES)('import into a %s store', (_name, open) => {
  test('export, import, export: the same bytes', async () => {
    await using from = await startGateway({ store: await open() })
    await using to = await startGateway({ store: await open() })
    const cue: fc.Arbitrary<Cue> = fc.oneof(
      fc
        .record({ id: fc.string({ minLength: 1 }), value: fc.string({ unit: 'binary' }) })
        .map(({ id, value }) => text(id, value)),
      fc.string({ unit: 'binary' }).map((say) => ({ say })),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(cue, { maxLength: 8 }), async (cues) => {
        const exported = await exportOf(from, await finished(from, script(...cues, success)))
        const { status, body } = await importInto(to, exported)
        expect([status, body.isNew]).toEqual([200, true])
        expect(await exportOf(to, body.id)).toBe(exported)
      }),
      { numRuns: runs(4, 15) },
    )
  })

  test('names no blob: bytes of another session stay out of reach, and the store has nothing to miss', async () => {
    const store = await open()
    await using server = await startGateway({ store })
    const writer = store.blobs.open()
    writer.write(Buffer.from('secret'))
    const secret = await writer.close()
    const id = await finished(server, script(text('m', 'x'), success))
    const exported = await exportOf(server, id)
    await call(server, `DELETE /v1/sessions/${id}`)
    const forged = forgedExport(exported, (line) =>
      'entry' in line ? { entry: { ...Object(line.entry), blobs: [secret] } } : line,
    )
    const { body } = await importInto(server, forged, GUEST)
    expect(body.isNew).toBe(true)
    const blob = await fetchFrom(server, `GET /v1/blobs/${body.id}/${secret.id}`, { token: GUEST })
    expect(blob.status).toBe(404)
    const again = await fetchFrom(server, `GET /v1/sessions/${body.id}/export`, { token: GUEST })
    expect(await again.text()).not.toContain(JSON.stringify(secret))
    expect((await importInto(server, forged, GUEST)).body).toMatchObject({ id: body.id, isNew: false })
  })

  test('of the same export again changes nothing, also where the session was never away', async () => {
    await using server = await startGateway({ store: await open() })
    const id = await finished(server, script(text('m', 'x'), success))
    const exported = await exportOf(server, id)
    expect((await importInto(server, exported)).body).toEqual({
      id,
      entries: linesOf(exported).length - 7,
      isNew: false,
    })
    await call(server, `DELETE /v1/sessions/${id}`)
    expect((await importInto(server, exported)).body.isNew).toBe(true)
    expect((await importInto(server, exported)).body.isNew).toBe(false)
    expect(await exportOf(server, id)).toBe(exported)
  })

  test('of a session that was at work ends it: its turn is lost, and no time is later than the last', async () => {
    await using from = await startGateway({ store: await open() })
    await using to = await startGateway({ store: await open() })
    const id = await begin(from, { prompt: script(text('m', 'x'), { wait: true }, success) })
    await from.sessions.follow(id, 2, AbortSignal.timeout(10_000)).next()
    const exported = await exportOf(from, id)
    expect((await importInto(to, exported)).status).toBe(200)
    const before = linesOf(exported).flatMap((line) => JSON.parse(line).entry ?? [])
    const after = linesOf(await exportOf(to, id)).flatMap((line) => JSON.parse(line).entry ?? [])
    expect(after.slice(0, before.length)).toEqual(before)
    const [lost, ended] = after.slice(before.length)
    expect(lost).toMatchObject({ at: before.at(-1).at, event: { type: 'turn.completed', outcome: 'lost' } })
    expect(ended.event).toEqual({ type: 'session.ended', reason: 'lost' })
    expect((await call(to, `GET /v1/sessions/${id}`)).body).toMatchObject({
      status: 'ended',
      lastOutcome: 'lost',
    })
    // The exported session itself has gone on, so the two differ.
    from.gate.open()
  })
})

describe('a damaged export', () => {
  test.each<[string, (lines: string[]) => string[], RegExp]>([
    ['without its beginning', (lines) => lines.slice(1), /^line 1: an export begins with its record/],
    ['without an entry', (lines) => lines.toSpliced(2, 1), /^line 3: entry 2 is missing; this is entry 3/],
    ['with an entry twice', (lines) => lines.toSpliced(2, 0, lines[2] ?? ''), /^line 4: entry 3 is missing/],
    ['cut off', (lines) => lines.slice(0, -1), /cut off: it has no end line/],
    [
      'cut in a line',
      (lines) => [...lines.slice(0, 3), (lines[3] ?? '').slice(0, 20)],
      /^line 4: not valid JSON/,
    ],
    [
      'with a changed text',
      (lines) => lines.map((line) => line.replaceAll('"hello"', '"hullo"')),
      /^line 12: .*checksum/,
    ],
    [
      'with an unknown event',
      (lines) => lines.map((line) => line.replace('turn.started', 'turn.sorted')),
      /^line 3: not a line of an export/,
    ],
    ['with lines after its end', (lines) => [...lines, lines[1] ?? ''], /lines follow the end/],
    ['that is empty', () => [], /the file is empty/],
  ])('%s is refused with its line, and nothing of it is kept', async (_what, damage, message) => {
    const store = memoryStore()
    await using server = await startGateway()
    await using to = await startGateway({ store })
    const id = await finished(server, script(text('m', 'hello'), success))
    const lines = damage(linesOf(await exportOf(server, id)))
    const { status, body } = await importInto(to, lines.map((line) => `${line}\n`).join(''))
    expect([status, body.code]).toEqual([400, 'invalid_request'])
    expect(body.detail).toMatch(message)
    expect(await store.record(id)).toBeUndefined()
    expect(await store.head(id)).toBe(0)
  })

  test('whose first entries were deleted is refused', async () => {
    const store = memoryStore()
    await using server = await startGateway({ store })
    const id = await finished(server, script(text('m', 'x'), success))
    await store.trim(id, { seq: 4 }, FIRST_FENCE)
    const { body } = await importInto(server, await exportOf(server, id))
    expect(body).toMatchObject({
      detail: expect.stringContaining('begins at entry 4, because older entries were deleted'),
      advice: expect.stringContaining('Import an older export.'),
    })
  })
})

describe('an import', () => {
  test('gives a session an id that tells nothing about those of others, and the same one each time', async () => {
    const store = memoryStore()
    await using server = await startGateway({ store })
    await using empty = await startGateway()
    const id = await finished(server, script(success))
    const exported = await exportOf(server, id)
    const taken = await importInto(server, exported, GUEST)
    expect(await importInto(empty, exported, GUEST)).toEqual(taken)
    expect(taken).toMatchObject({ status: 200, body: { isNew: true } })
    expect(taken.body.id).not.toBe(id)
    expect((await importInto(server, exported, GUEST)).body).toEqual({ ...taken.body, isNew: false })
    const again = await (
      await fetchFrom(server, `GET /v1/sessions/${taken.body.id}/export`, { token: GUEST })
    ).text()
    expect(again).not.toContain(id)
    expect((await importInto(server, again, GUEST)).body).toEqual({ ...taken.body, isNew: false })
    expect((await store.record(id))?.principal).toBe('owner')
  })

  test('of an id that belongs to another principal is refused for an operator, who keeps ids', async () => {
    await using server = await startGateway()
    const exported = await exportOf(server, await finished(server, script(success)))
    const { body } = await importInto(server, exported, GUEST)
    const foreign = await fetchFrom(server, `GET /v1/sessions/${body.id}/export`, { token: GUEST })
    expect((await importInto(server, await foreign.text())).body.code).toBe('conflict')
  })

  test('of a session that differs is refused, and leaves it alone', async () => {
    await using server = await startGateway()
    await using other = await startGateway()
    const idle = await begin(server, { prompt: script(success) })
    await server.sessions.get(idle)?.ended(1)
    const early = await exportOf(server, idle)
    expect((await importInto(other, early)).body.isNew).toBe(true)
    await call(server, `POST /v1/sessions/${idle}/turns`, { body: { prompt: script(success) } })
    await server.sessions.get(idle)?.ended(2)
    const { status, body } = await importInto(other, await exportOf(server, idle))
    expect([status, body.code]).toEqual([409, 'conflict'])
    expect((await call(other, `GET /v1/sessions/${idle}`)).body).toMatchObject({ status: 'ended', turns: 1 })
  })

  test('that is cut off by the end of the server is removed at the next start', async () => {
    const store = memoryStore()
    await using server = await startGateway()
    const id = await finished(server, script({ flood: { texts: 3, size: 600_000 } }, success))
    const lines = linesOf(await exportOf(server, id))
    const create = store.create.bind(store)
    const { promise: created, resolve } = Promise.withResolvers<void>()
    store.create = async (...args) => create(...args).finally(resolve)
    const to = await startGateway({ store })
    const half = new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode(`${lines.slice(0, -2).join('\n')}\n`)),
    })
    const cut = importInto(to, half).catch(() => undefined)
    await created
    expect((await store.record(id))?.principal).toBe('(import)owner')
    expect((await call(to, `GET /v1/sessions/${id}`)).status).toBe(404)
    await using next = await startGateway({ store })
    await next.sessions.recover()
    expect(await store.record(id)).toBeUndefined()
    await to[Symbol.asyncDispose]()
    await cut
  })

  test('may take longer than other requests while lines arrive, and is cut off where none do', async () => {
    const store = memoryStore()
    await using server = await startGateway()
    const timing = {
      keepaliveMs: 60_000,
      pingMs: 60_000,
      stallMs: 60_000,
      headersMs: 10_000,
      requestMs: 1000,
    }
    await using to = await startGateway({ store, timing })
    const exported = await exportOf(server, await finished(server, script(success)))
    const bytes = new TextEncoder().encode(exported)
    const part = Math.ceil(bytes.length / 20)
    let at = 0
    const slow = new ReadableStream({
      async pull(stream) {
        await setTimeout(100)
        stream.enqueue(bytes.subarray(at, at + part))
        at += part
        if (at >= bytes.length) stream.close()
      },
    })
    const { status, body } = await importInto(to, slow)
    expect({ status, isNew: body.isNew }).toEqual({ status: 200, isNew: true })
    await call(to, `DELETE /v1/sessions/${body.id}`)
    const stalled = new ReadableStream({ start: (stream) => stream.enqueue(bytes.subarray(0, -part)) })
    expect(await importInto(to, stalled)).toMatchObject({ status: 408, body: { code: 'timeout' } })
    await expect.poll(() => store.record(body.id)).toBeUndefined()
  })

  test('takes only its own media type', async () => {
    await using server = await startGateway()
    const answer = await call(server, 'POST /v1/sessions/import', { body: {} })
    expect(answer).toMatchObject({ status: 415 })
    const headers = { ...TYPE, authorization: `Bearer ${TOKEN}` }
    const wrong = await fetch(`${server.url}/v1/sessions`, { method: 'POST', headers, body: '{}' })
    expect(wrong.status).toBe(415)
  })
})
