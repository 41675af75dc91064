import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { queuePreview } from '../../src/model/session/queue-preview.ts'
import { MIGRATIONS } from '../../src/stores/sqlite/migrations.ts'
import { migrate } from '../../src/stores/sqlite/schema.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { database, entries, newDirectory, sessionId, state } from './sqlite-parts.ts'

const directory = newDirectory()
const full = newDirectory()
const queued = newDirectory()
afterAll(() => {
  for (const path of [directory, full, queued]) rmSync(path, { recursive: true })
})

test('a store of the first version has its sessions counted and its account made', async () => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const day = Date.UTC(2026, 0, 2)
  const old = database(directory)
  migrate(old, MIGRATIONS.slice(0, 1))
  const insert = old.prepare('INSERT INTO session (n, id, principal, status, record) VALUES (?, ?, ?, ?, ?)')
  const log = old.prepare(
    'INSERT INTO log (session, first, last, at, version, body) VALUES (?, 1, 2, 5, 1, ?)',
  )
  for (const n of [1, 2, 3]) {
    const id = sessionId(n)
    const status = n === 3 ? 'ended' : 'idle'
    const usage = n === 2 ? {} : { input: n, costUsd: 0.1 }
    const record = state(id, { principal: 'ann', status, createdAt: day + n, turns: n, usage })
    insert.run(n, id, 'ann', status, JSON.stringify(record))
    log.run(
      n,
      entries(id, 1, 2)
        .map((entry) => JSON.stringify(entry))
        .join(',\n'),
    )
  }
  old.close()
  await using store = await sqliteStore({ directory })
  expect(Object.fromEntries(await store.counts())).toEqual({ idle: 2, ended: 1 })
  expect(await store.dailyUsage('ann')).toEqual([
    {
      principal: 'ann',
      agent: 'echo',
      day: '2026-01-02',
      sessions: 3,
      turns: 6,
      usage: { input: 4, costUsd: 0.2 },
    },
  ])
  expect(await store.read(sessionId(1), 0, 9)).toEqual(entries(sessionId(1), 1, 2))
  await store.delete(sessionId(3))
  expect((await store.counts()).get('ended') ?? 0).toBe(0)
})

test('a full store of the second version is opened, with frame counts and the owners of native conversations', async () => {
  const old = database(full)
  migrate(old, MIGRATIONS.slice(0, 2))
  const insert = old.prepare('INSERT INTO session (n, id, principal, status, record) VALUES (?, ?, ?, ?, ?)')
  const coverage = { frames: 7, mapped: 6, unmapped: 1, malformed: 0, oversized: 0 }
  for (let n = 1; n <= 300; n++) {
    const nativeSessionId = `native-${n}`.padEnd(100, '.')
    const record = state(sessionId(n), { nativeSessionId, frames: 7, coverage })
    insert.run(n, record.id, record.principal, record.status, JSON.stringify(record))
  }
  old.close()
  const { size: maxBytes } = statSync(join(full, 'mainstem.db'))
  await using store = await sqliteStore({ directory: full, maxBytes })
  expect(await store.nativeOwners('native-9'.padEnd(100, '.'))).toHaveLength(1)
  expect(await store.record(sessionId(9))).toMatchObject({ frames: 7, coverage })
  await store.delete(sessionId(9))
  expect(await store.record(sessionId(9))).toBeUndefined()
})

test('a store whose records hold their queues keeps them, in order and byte for byte', async () => {
  const old = database(queued)
  migrate(old, MIGRATIONS.slice(0, 5))
  const insert = old.prepare('INSERT INTO session (n, id, principal, status, record) VALUES (?, ?, ?, ?, ?)')
  const queue = Array.from({ length: 12 }, (_, index) => ({
    turn: index + 2,
    prompt: `${index} \ud800\0\u2028"\\ 1e3 é \u{1F680}`,
    ...(index === 3 && { images: [{ mimeType: 'image/png', data: 'AAAA' }] }),
  }))
  const long = { turn: 20, prompt: 'x'.repeat(5_000), images: [{ mimeType: 'image/png', data: 'AAAA' }] }
  const queues = [queue, [], [...queue.slice(2, 4), long]]
  for (const [index, waiting] of queues.entries()) {
    const record = { ...state(sessionId(index + 1)), queue: waiting }
    insert.run(index + 1, record.id, record.principal, record.status, JSON.stringify(record))
  }
  old.close()
  await using store = await sqliteStore({ directory: queued })
  for (const [index, waiting] of queues.entries()) {
    const id = sessionId(index + 1)
    const shown = { ...state(id), queue: waiting.map(queuePreview), head: 0, updatedAt: 0 }
    expect(await store.record(id)).toEqual(shown)
    for (const prompt of waiting) expect(await store.queuedPrompt(id, prompt.turn)).toEqual(prompt)
  }
  await store.append(sessionId(1), { entries: entries(sessionId(1), 1, 1), dequeued: [2, 5] })
  const left = queue.filter(({ turn }) => turn !== 2 && turn !== 5)
  expect((await store.record(sessionId(1)))?.queue).toEqual(left.map(queuePreview))
})
