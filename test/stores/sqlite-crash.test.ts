import { rmSync } from 'node:fs'
import { afterAll, expect, test, vi } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { runs } from '../long.ts'
import {
  CREATED,
  entries,
  frames,
  newDirectory,
  readAll,
  sessionId,
  startChild,
  WRITTEN,
} from './sqlite-parts.ts'

vi.setConfig({ testTimeout: 120_000 })

const ROUNDS = runs(2, 10)
const directory = newDirectory()
afterAll(() => rmSync(directory, { recursive: true }))

/** Kills the writer after so many acknowledgements; the last seq that was acknowledged of each session. */
async function killAfter(acknowledgements: number, acknowledged: Map<string, number>): Promise<void> {
  const child = startChild('write', directory)
  let seen = 0
  for await (const said of child.lines) {
    const [id = '', head = ''] = said.split(' ')
    acknowledged.set(id, Number(head))
    if (++seen === acknowledgements) child.process.kill('SIGKILL')
  }
  await child.exited
  expect(seen).toBeGreaterThanOrEqual(acknowledgements)
}

/** Everything of the session is as it was written, and nothing that was acknowledged is missing. */
async function checkSession(store: Store, id: string, acknowledged: number): Promise<void> {
  const head = await store.head(id)
  expect(head).toBeGreaterThanOrEqual(acknowledged)
  expect(await readAll(store, id)).toEqual(entries(id, 1, head))
}

test('nothing that was acknowledged is lost when the process is killed, over and over', async () => {
  const acknowledged = new Map<string, number>()
  for (let round = 1; round <= ROUNDS; round++) {
    // From the first acknowledgement to some hundred: in the middle of a commit, a checkpoint, a start.
    await killAfter(1 + ((round * 61) % 211), acknowledged)
    await using store = await sqliteStore({ directory })
    for (const [id, head] of acknowledged) await checkSession(store, id, head)
  }
  await using store = await sqliteStore({ directory })
  for (let index = 0; index < WRITTEN; index++) {
    const id = sessionId(index)
    const head = await store.head(id)
    expect(await store.readJournal(id, 0, head + 1)).toEqual(frames(id, 1, head))
    // The record is of the same transaction as the entries that it follows from.
    expect(await store.record(id)).toMatchObject({ turns: head, head })
  }
  const created = [...acknowledged.keys()].filter((id) => id >= sessionId(CREATED))
  expect(created.length).toBeGreaterThan(ROUNDS)
  for (const id of created) expect(await store.receipt('s', id)).toMatchObject({ session: id })
  const records = await store.records({ limit: 100_000 })
  for (const { id } of records.filter((record) => record.id >= sessionId(CREATED))) {
    expect(await store.receipt('s', id)).toMatchObject({ session: id })
  }
})
