import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { BlobRef } from '../../src/model/index.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { blobBytes } from './blob-bytes.ts'
import { entry, newDirectory, sessionId } from './sqlite-parts.ts'

const ID = sessionId(1)
const root = newDirectory()
afterAll(() => rmSync(root, { recursive: true }))

let directory = ''
let count = 0
beforeEach(() => {
  directory = join(root, `${++count}`)
})

async function keep(store: Store, text: string): Promise<BlobRef> {
  const writer = store.blobs.open()
  writer.write(Buffer.from(text))
  return writer.close()
}

const naming = (seq: number, blob: BlobRef, session = ID) => {
  const event = {
    type: 'tool.completed',
    toolId: 't',
    name: 'n',
    kind: 'read',
    status: 'success',
    blob,
  } as const
  return { entries: [{ seq, session, at: seq, event }] }
}

test('a hundred megabytes pass through without being in memory', async () => {
  await using store = await sqliteStore({ directory })
  const chunk = Buffer.alloc(64 * 1024)
  const sent = createHash('sha256')
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const writer = store.blobs.open()
  for (let index = 0; index < 1600; index++) {
    chunk.fill(index % 251)
    sent.update(chunk)
    writer.write(chunk)
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }
  const ref = await writer.close()
  expect(most).toBeLessThan(4 * 1024 * 1024)
  expect(ref.bytes).toBe(1600 * 64 * 1024)
  const kept = await blobBytes(store.readBlob(ref))
  expect(kept.length).toBe(ref.bytes)
  expect(createHash('sha256').update(kept).digest('hex')).toBe(sent.digest('hex'))
})

test('blobs go with the session that names them, and with no other', async () => {
  await using store = await sqliteStore({ directory })
  const [mine, theirs, twice] = [
    await keep(store, 'mine'),
    await keep(store, 'theirs'),
    await keep(store, 'twice'),
  ]
  await store.append(ID, naming(1, mine))
  await store.append(ID, naming(2, twice))
  await store.append(ID, naming(3, twice))
  await store.append(sessionId(2), naming(1, theirs, sessionId(2)))
  await store.delete(ID)
  await expect(blobBytes(store.readBlob(mine))).rejects.toMatchObject({ code: 'not_found' })
  await expect(blobBytes(store.readBlob(twice))).rejects.toMatchObject({ code: 'not_found' })
  expect(Buffer.from(await blobBytes(store.readBlob(theirs))).toString()).toBe('theirs')
})

test('blobs that no entry came to name are swept at the next start', async () => {
  const named = await (async () => {
    await using store = await sqliteStore({ directory })
    await keep(store, 'orphan')
    const ref = await keep(store, 'named')
    await store.append(ID, naming(1, ref))
    return ref
  })()
  mkdirSync(join(directory, 'blobs', 'litter'))
  expect(readdirSync(join(directory, 'blobs'))).toHaveLength(3)
  await using store = await sqliteStore({ directory })
  expect(readdirSync(join(directory, 'blobs'))).toEqual([named.id])
  expect(Buffer.from(await blobBytes(store.readBlob(named))).toString()).toBe('named')
})

test('an id cannot lead out of the folder', async () => {
  await using store = await sqliteStore({ directory })
  writeFileSync(join(directory, 'secret'), 'x')
  for (const id of ['../secret', '../mainstem.db', '', '.', join(directory, 'secret')]) {
    await expect(blobBytes(store.readBlob({ id, bytes: 1 }))).rejects.toMatchObject({ code: 'not_found' })
  }
})

test('a blob that cannot be written fails at once and leaves no file', async () => {
  await using store = await sqliteStore({ directory })
  const blobs = join(directory, 'blobs')
  rmSync(blobs, { recursive: true })
  expect(() => store.blobs.open()).toThrow(expect.objectContaining({ code: 'storage_failed' }))
  mkdirSync(blobs, { mode: 0o700 })
  const ref = await keep(store, 'again')
  expect(existsSync(join(blobs, ref.id))).toBe(true)
  await store.append(ID, { entries: [entry(ID, 1)] })
})
