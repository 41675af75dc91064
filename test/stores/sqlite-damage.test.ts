import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type BlobRef, toMainstemError } from '../../src/model/index.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { blobFilesIn, changedCopy, filledStore, SESSIONS, type View, viewOf } from './damage.ts'
import { database } from './sqlite-parts.ts'

vi.setConfig({ testTimeout: 240_000 })

let directory: string
let blobs: Map<string, BlobRef>
const intact = new Map<string, View>()
beforeAll(async () => {
  ;({ directory, blobs } = await filledStore())
  await using store = await sqliteStore({ directory, durability: 'process' })
  for (const id of SESSIONS) intact.set(id, await viewOf(store, id, blobs.get(id)))
})
afterAll(() => rmSync(directory, { recursive: true }))

/** Opens a changed copy; the views of all sessions, or the code of the refusal to open it. */
async function served(change: (copy: string) => void): Promise<Map<string, View> | string> {
  const copy = changedCopy(directory, change)
  try {
    await using store = await sqliteStore({ directory: copy, durability: 'process' })
    const views = new Map<string, View>()
    for (const id of SESSIONS) views.set(id, await viewOf(store, id, blobs.get(id)))
    return views
  } catch (thrown) {
    return toMainstemError(thrown).code
  } finally {
    rmSync(copy, { recursive: true })
  }
}

/** What is served differently from what was stored, and is not refused. */
function wrong(views: Map<string, View>, absent: readonly string[] = []): string[] {
  return SESSIONS.flatMap((id) => {
    const [before, now] = [intact.get(id) ?? {}, views.get(id) ?? {}]
    const isGone = now.record === 'absent' && absent.includes('record')
    return Object.keys(before).flatMap((part) => {
      const value = now[part] ?? ''
      if (value === before[part] || value === 'storage_failed') return []
      // A row that is not found by its damaged key is missing, which is not the same as wrong.
      if (absent.includes(part) && ['absent', 'not_found', '[]'].includes(value)) return []
      // A list leaves out the records that are refused by their ids.
      if (part === 'listed' && value === 'absent' && now.record === 'storage_failed') return []
      // Raw frames may have gaps, so a row that is found under another session is noticed by the doctor only.
      if (part === 'journal' && absent.includes(part) && isPartOf(value, before[part] ?? '')) return []
      if (isGone && ['absent', '[]', '0'].includes(value)) return []
      return [`${part} of ${id}: ${value.slice(0, 80)}`]
    })
  })
}

function isPartOf(list: string, whole: string): boolean {
  const known = new Set(JSON.parse(whole).map((one: unknown) => JSON.stringify(one)))
  return JSON.parse(list).every((one: unknown) => known.has(JSON.stringify(one)))
}

test('a flipped bit in the file of a blob is never served', async () => {
  const views = await served((copy) => {
    const [file = ''] = blobFilesIn(copy)
    const bytes = readFileSync(file)
    bytes.writeUInt8((bytes[7] ?? 0) ^ 4, 7)
    writeFileSync(file, bytes)
  })
  if (typeof views === 'string') throw new Error(views)
  expect(wrong(views)).toEqual([])
  expect([...views.values()].map(({ blob }) => blob)).toContain('storage_failed')
})

test('flipped bits anywhere in the database file are never served', async () => {
  const { length } = readFileSync(join(directory, 'mainstem.db'))
  const flips = 120
  for (let index = 0; index < flips; index++) {
    // Spread over the file, on odd source of the pages.
    const at = Math.floor(((index + 0.37) / flips) * length)
    const views = await served((copy) => {
      const file = join(copy, 'mainstem.db')
      const bytes = readFileSync(file)
      bytes.writeUInt8((bytes[at] ?? 0) ^ (1 << (index % 8)), at)
      writeFileSync(file, bytes)
    })
    if (typeof views === 'string') expect(views).toBe('storage_failed')
    else expect(wrong(views, ['record', 'listed', 'receipt', 'blob', 'journal']), `byte ${at}`).toEqual([])
  }
})

test.each([
  ['record', "UPDATE session SET record = replace(record, 'title', 'tITle')"],
  ['end of the log', 'UPDATE tail SET head = head + 1'],
  ['lease', 'UPDATE session SET fence = fence + 1'],
  ['queue', 'DELETE FROM queued WHERE turn = 5'],
])('a session whose %s is damaged can be deleted', async (_, sql) => {
  const copy = changedCopy(directory, (changed) => {
    const db = database(changed)
    db.exec(sql)
    db.close()
  })
  try {
    await using store = await sqliteStore({ directory: copy, durability: 'process' })
    for (const id of SESSIONS) await store.delete(id, 1)
    for (const id of SESSIONS) expect(await store.record(id)).toBeUndefined()
    expect(await store.records({ limit: 9 })).toEqual([])
  } finally {
    rmSync(copy, { recursive: true })
  }
})
