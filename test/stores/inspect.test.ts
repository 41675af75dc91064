import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { StoreReport } from '../../src/stores/inspect.ts'
import { inspectStore } from '../../src/stores/sqlite/inspect.ts'
import { blobFilesIn, changedCopy, filledStore, SESSIONS } from './damage.ts'
import { database, newDirectory } from './sqlite-parts.ts'

let directory: string
beforeAll(async () => {
  ;({ directory } = await filledStore())
})
afterAll(() => rmSync(directory, { recursive: true }))

async function after(change: (copy: string) => void): Promise<StoreReport> {
  const copy = changedCopy(directory, change)
  try {
    return await inspectStore(copy)
  } finally {
    rmSync(copy, { recursive: true })
  }
}

const sql = (statement: string) => (copy: string) => {
  const db = database(copy)
  db.exec(statement)
  db.close()
}

test('an intact store has no damage', async () => {
  expect(await inspectStore(directory)).toMatchObject({ sessions: 2, unchecked: 0, damage: [] })
})

test('rows of older versions are counted and are no damage', async () => {
  const report = await after(sql('UPDATE log SET sum = NULL'))
  expect(report).toMatchObject({ unchecked: 9, damage: [] })
})

const [session] = SESSIONS

test.each([
  [
    'log',
    "SET body = replace(body, 'stdout', 'stdouu') WHERE session = 1 AND first = 5",
    { what: 'the log', first: 5, last: 7 },
  ],
  ['log', 'SET session = 9 WHERE session = 1 AND first = 5', { what: 'the log', first: 5, last: 7 }],
  ['log', 'SET session = 9 WHERE session = 1 AND first = 11', { what: 'the end of the log' }],
  ['session', "SET record = replace(record, 'title', 'titld') WHERE n = 1", { what: 'the record' }],
  ['session', 'SET earliest_frame = 3 WHERE n = 1', { what: 'the beginning of the log' }],
  ['heard', 'SET mapped = 7 WHERE session = 1', { what: 'the coverage' }],
  [
    'queued',
    "SET body = replace(body, 'prompt 5', 'prompt 4') WHERE session = 1",
    { what: 'a queued prompt' },
  ],
  ['journal', 'SET encoding = 2 WHERE session = 1', { what: 'the raw frames' }],
  ['receipt', 'SET body = replace(body, \'"turn":1\', \'"turn":3\')', { what: 'an idempotency key' }],
])('damage in %s is named: %s', async (table, change, named) => {
  const { file, damage } = await after(sql(`UPDATE ${table} ${change}`))
  expect(file).toMatch(/mainstem\.db$/)
  expect(damage).toContainEqual({ file, session, ...named })
})

test('a damaged file of a blob is named', async () => {
  let changed = ''
  const { damage } = await after((copy) => {
    changed = blobFilesIn(copy)[0] ?? ''
    const bytes = readFileSync(changed)
    bytes.writeUInt8((bytes[3] ?? 0) ^ 1, 3)
    writeFileSync(changed, bytes)
  })
  expect(damage).toMatchObject([{ file: changed, what: expect.stringMatching(/^blob /) }])
})

test('a folder without a store is refused, and nothing is made there', async () => {
  const empty = newDirectory()
  await expect(inspectStore(join(empty, 'log'))).rejects.toMatchObject({ code: 'not_found' })
  rmSync(empty, { recursive: true })
})
