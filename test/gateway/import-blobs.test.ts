import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { BlobRef } from '../../src/model/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { inspectStore } from '../../src/stores/sqlite/inspect.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { call, fetchFrom, finished } from './api.ts'
import { exportOf, forgedExport, importInto, linesOf, STORES } from './exports.ts'
import { script, success } from './puppet.ts'
import { GUEST, startGateway, type TestGateway, TOKEN } from './start.ts'

/** Larger than one part of an export. */
const OUTPUT = `start ${'0123456789'.repeat(250_000)} end`

async function blobOf(store: Store, content: string): Promise<BlobRef> {
  const writer = store.blobs.open()
  writer.write(Buffer.from(content))
  return writer.close()
}

const mentionOf = ({ id, bytes }: BlobRef) => `[${bytes} bytes in blob ${id}]`

/** A session with a large output, which two events refer to, and an empty blob. */
async function withBlobs(server: TestGateway, store: Store): Promise<string> {
  const [large, empty] = [await blobOf(store, OUTPUT), await blobOf(store, '')]
  const tool = { toolId: 'c1', name: 'Bash', kind: 'execute' } as const
  const completed = { type: 'tool.completed', ...tool, status: 'success' } as const
  const output = `start… ${mentionOf(large)}`
  return finished(
    server,
    script(
      { say: { type: 'tool.started', ...tool, input: {} } },
      { say: { ...completed, output, blob: large } },
      { say: { type: 'native.unmapped', nativeType: 'again', frame: output, blob: large } },
      { say: { type: 'native.unmapped', nativeType: 'nothing', blob: empty } },
      success,
    ),
  )
}

/** The blobs of a session, as its entries refer to them. */
async function refsOf(server: TestGateway, id: string, token = TOKEN): Promise<BlobRef[]> {
  const entries = linesOf(await exportOf(server, id, token)).flatMap((line) => JSON.parse(line).entry ?? [])
  return entries.flatMap(({ event }) => event.blob ?? [])
}

const bytesOf = async (server: TestGateway, session: string, { id }: BlobRef, token = TOKEN) =>
  (await fetchFrom(server, `GET /v1/blobs/${session}/${id}`, { token })).text()

const idsIn = (exported: string) => [
  ...new Set<string>(linesOf(exported).flatMap((line) => JSON.parse(line).blob?.id ?? [])),
]

/** The lines of two exports of one session, which differ in the ids of blobs. */
function withoutIds(...exports: string[]): string[] {
  const ids = exports.map(idsIn)
  const renamed = (text: string) =>
    ids.flatMap((list) => [...list.entries()]).reduce((now, [n, id]) => now.replaceAll(id, `blob ${n}`), text)
  return exports.map((text) => linesOf(renamed(text)).slice(0, -1).join('\n'))
}

describe.each(STORES)('an export from a %s store', (_name, open) => {
  test('has its blobs: deleted and imported, the session has every byte again', async () => {
    await using store = await open()
    await using server = await startGateway({ store })
    const id = await withBlobs(server, store)
    const exported = await exportOf(server, id)
    await call(server, `DELETE /v1/sessions/${id}`)
    expect(await importInto(server, exported)).toMatchObject({ status: 200, body: { id, isNew: true } })
    const [large, again, empty] = await refsOf(server, id)
    if (!large || !again || !empty) throw new Error('the session refers to its blobs')
    expect(again).toEqual(large)
    expect((await bytesOf(server, id, large)) === OUTPUT).toBe(true)
    expect(await bytesOf(server, id, empty)).toBe('')
    const twice = await exportOf(server, id)
    expect(twice).toContain(mentionOf(large))
    const [first, second] = withoutIds(exported, twice)
    expect(first === second).toBe(true)
    for (const same of [exported, twice])
      expect((await importInto(server, same)).body).toMatchObject({ id, isNew: false })
  })

  test('imported by another principal is its own: the blobs of each stay out of reach of the other', async () => {
    await using store = await open()
    await using server = await startGateway({ store })
    const id = await withBlobs(server, store)
    const [own] = await refsOf(server, id)
    const { body } = await importInto(server, await exportOf(server, id), GUEST)
    const [theirs] = await refsOf(server, body.id, GUEST)
    if (!own || !theirs) throw new Error('both refer to their blobs')
    expect(theirs.id).not.toBe(own.id)
    expect((await fetchFrom(server, `GET /v1/blobs/${body.id}/${own.id}`, { token: GUEST })).status).toBe(404)
    await call(server, `DELETE /v1/sessions/${id}`)
    expect((await bytesOf(server, body.id, theirs, GUEST)) === OUTPUT).toBe(true)
  })

  test('that is cut off leaves no blob behind', async () => {
    await using store = await open()
    await using from = await startGateway({ store })
    const exported = await exportOf(from, await withBlobs(from, store))
    const empty = await open()
    await using to = await startGateway({ store: empty })
    const made: BlobRef[] = []
    const { open: begin } = empty.blobs
    empty.blobs.open = () => {
      const writer = begin.call(empty.blobs)
      const { close } = writer
      writer.close = async () => {
        const ref = await close.call(writer)
        made.push(ref)
        return ref
      }
      return writer
    }
    const lines = linesOf(exported)
    const last = lines.findLastIndex((line) => line.startsWith('{"blob"'))
    expect((await importInto(to, `${lines.slice(0, last + 1).join('\n')}\n`)).status).toBe(400)
    expect(made).toHaveLength(2)
    for (const ref of made)
      await expect(Array.fromAsync(empty.readBlob(ref))).rejects.toMatchObject({ code: 'not_found' })
  })
})

const lastPart = (lines: string[]) => lines.findLastIndex((line) => /^{"blob":.*"at":[^0]/.test(line))
const isReferring = (line: string) => line.startsWith('{"entry"') && line.includes('"blob":{')
const withoutRefs = (line: string) => line.replace(/,"blob":{[^}]*}/, '')

describe('an export with blobs', () => {
  test.each<[string, (lines: string[], blob: number) => string[], RegExp]>([
    ['without a part', (lines, blob) => lines.toSpliced(blob + 1, 1), /does not follow the line before/],
    ['without its last part', (lines) => lines.toSpliced(lastPart(lines), 1), /is incomplete/],
    [
      'whose entry does not refer to them',
      (lines) => lines.map((line) => (isReferring(line) ? withoutRefs(line) : line)),
      /the entry after blob .* does not refer to it/,
    ],
    [
      'with another size in its entry',
      (lines) =>
        lines.map((line) => (line.startsWith('{"entry"') ? line.replace(/"bytes":\d+/, '"bytes":7') : line)),
      /has 2500010 bytes, and its entry says 7/,
    ],
    [
      'with a changed byte',
      (lines, blob) => lines.with(blob, (lines[blob] ?? '').replace('"data":"c3Rh', '"data":"c3Rj')),
      /do not match the checksum/,
    ],
    [
      'that is not base64',
      (lines, blob) => lines.with(blob, (lines[blob] ?? '').replace('"data":"', '"data":"?')),
      /not a line of an export/,
    ],
    ['twice', (lines, blob) => lines.toSpliced(lastPart(lines) + 2, 0, lines[blob] ?? ''), /is there twice/],
  ])('%s is refused', async (_what, damage, message) => {
    const store = memoryStore()
    await using server = await startGateway({ store })
    await using to = await startGateway()
    const lines = linesOf(await exportOf(server, await withBlobs(server, store)))
    const blob = lines.findIndex((line) => line.startsWith('{"blob"'))
    const { status, body } = await importInto(to, `${damage(lines, blob).join('\n')}\n`)
    expect([status, body.detail]).toEqual([400, expect.stringMatching(message)])
  })

  test('of a version without them is imported, and its session can be imported again', async () => {
    const store = memoryStore()
    await using server = await startGateway({ store })
    await using to = await startGateway()
    const id = await withBlobs(server, store)
    const exported = await exportOf(server, id)
    const lines = linesOf(exported).filter((line) => !line.startsWith('{"blob"'))
    const old = forgedExport(`${lines.join('\n')}\n`, (line) => line)
    expect((await importInto(server, old)).body).toMatchObject({ id, isNew: false })
    expect((await importInto(to, old)).body).toMatchObject({ id, isNew: true })
    expect(await refsOf(to, id)).toEqual([])
    expect((await importInto(to, old)).body).toMatchObject({ id, isNew: false })
    // The bytes are not there, so it is not the same session.
    expect(await importInto(to, exported)).toMatchObject({ status: 409, body: { code: 'conflict' } })
  })
})

test('doctor finds nothing wrong with imported blobs', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'import-blobs-'))
  const from = memoryStore()
  await using server = await startGateway({ store: from })
  const exported = await exportOf(server, await withBlobs(server, from))
  const store = await sqliteStore({ directory })
  const to = await startGateway({ store })
  expect((await importInto(to, exported)).status).toBe(200)
  await to[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
  expect(await inspectStore(directory)).toMatchObject({ sessions: 1, damage: [] })
  expect(readdirSync(join(directory, 'blobs'))).toHaveLength(2)
  rmSync(directory, { recursive: true })
})
