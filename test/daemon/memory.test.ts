import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeLog } from '../../faults/memory/large-log.ts'
import {
  headOf,
  type Reading,
  readEvents,
  readExport,
  readPages,
  readParallelPages,
  readSocket,
} from '../../faults/memory/readers.ts'
import { SmallServer } from '../../faults/memory/small-server.ts'
import { runs, someOf } from '../long.ts'

const HEAP_MB = 96
const PAGES = runs(4, 10)
const LARGE = { id: '6b0a0a3e-6a50-4a6e-9f6c-1c5b6c1f0d01', entries: 12, size: 8_000_000, batch: 1 }
const MANY = {
  id: '6b0a0a3e-6a50-4a6e-9f6c-1c5b6c1f0d02',
  entries: runs(20_000, 150_000),
  size: 100,
  batch: 5_000,
}

const home = mkdtempSync(join(tmpdir(), 'memory-'))
let server: SmallServer
beforeAll(async () => {
  await writeLog(home, LARGE)
  await writeLog(home, MANY)
  server = await SmallServer.start(home, HEAP_MB)
}, 180_000)
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  rmSync(home, { recursive: true, maxRetries: 3 })
})

async function reading(id: string): Promise<Reading> {
  return { url: server.url, id, head: await headOf(server.url, id) }
}

test(`recovery under a heap of ${HEAP_MB} MB settles the turns of logs that are larger`, async () => {
  // The start of the turn before the entries, and its end after them.
  expect((await reading(LARGE.id)).head).toBe(LARGE.entries + 2)
  expect((await reading(MANY.id)).head).toBe(MANY.entries + 2)
})

const WAYS: readonly [how: string, read: (log: Reading) => Promise<number>][] = [
  ['pages', (log) => readPages(log)],
  ['pages of another dialect', (log) => readPages(log, '&dialect=board')],
  ['an export', readExport],
  ['server-sent events', readEvents],
  ['a WebSocket', readSocket],
]

test.each(someOf(WAYS, 1))(
  `%s under a heap of ${HEAP_MB} MB give all entries of 8 MB`,
  async (_how, read) => {
    const log = await reading(LARGE.id)
    expect(await read(log)).toBeGreaterThan(LARGE.entries)
  },
)

test(`pages and streams at the same time wait for each other under a heap of ${HEAP_MB} MB`, async () => {
  const log = await reading(LARGE.id)
  const [pages, ...streams] = await Promise.all([
    readParallelPages(log, PAGES),
    readEvents(log),
    readEvents(log),
  ])
  expect(pages).toBe(PAGES)
  expect(streams).toEqual([log.head, log.head])
})
