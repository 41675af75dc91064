import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemTimers } from '../src/drivers/timers.ts'
import type { EventType } from '../src/model/index.ts'
import { LogReader } from '../src/reading/log-reader.ts'
import { postgresStore } from '../src/stores/postgres.ts'
import { sqliteStore } from '../src/stores/sqlite.ts'
import type { Store } from '../src/stores/store.ts'
import { startPostgres } from '../test/postgres/server.ts'
import { SessionStream } from './stream.ts'

const ENTRIES = 1_000_000
/** Entries of one append, and appends that wait at a time. */
const BATCH = 3
const WAITING = 200

const QUERIES: readonly EventType[][] = [
  ['session.ended'],
  ['turn.completed'],
  ['tool.started', 'tool.completed'],
]

/** What reading a long log by the types of its entries takes, beside reading all of it. */
export async function types([count = String(ENTRIES)]: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  try {
    {
      await using store = await sqliteStore({ directory: folder, durability: 'process', search: false })
      await measure('SQLite', store, Number(count))
    }
    console.log(
      `SQLite: ${(statSync(join(folder, 'mainstem.db')).size / Number(count)).toFixed(1)} bytes an entry`,
    )
    await using server = await startPostgres()
    await using store = await postgresStore({ url: server.url, search: false })
    await measure('PostgreSQL', store, Number(count))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function measure(name: string, store: Store, count: number): Promise<void> {
  const stream = new SessionStream('s')
  const wait: Promise<void>[] = []
  const began = performance.now()
  for (let seq = 1; seq <= count; seq += BATCH) {
    wait.push(store.append('s', { entries: stream.next(BATCH).entries }))
    if (wait.length === WAITING) await Promise.all(wait.splice(0))
  }
  await Promise.all(wait)
  console.log(
    `${name}: ${count} entries, ${(((performance.now() - began) * 1_000) / count).toFixed(1)} µs an append`,
  )
  const head = await store.head('s')
  const reader = new LogReader(store, systemTimers)
  for (const query of [undefined, ...QUERIES]) {
    const wanted = query && new Set(query)
    const from = performance.now()
    let found = 0
    for await (const entries of reader.replay('s', 0, head, { types: wanted }))
      found += entries.filter(({ event }) => !wanted || wanted.has(event.type)).length
    const ms = (performance.now() - from).toFixed(1)
    console.log(`${name}: ${ms.padStart(8)} ms for ${found} entries, ${query?.join(', ') ?? 'all'}`)
  }
}
