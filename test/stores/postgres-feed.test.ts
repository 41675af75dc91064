import { expect, test } from 'vitest'
import type { EventType } from '../../src/model/index.ts'
import type { CommitLog } from '../../src/stores/nodes.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import { newDatabase, ownServer, query } from '../postgres/database.ts'
import { entries, entry, sessionId, state } from './sqlite-parts.ts'

const [OLD, NEW] = [sessionId(1), sessionId(2)]
const created = (session: string) => ({ entries: entries(session, 1, 3), record: state(session) })

/** The URL of a copy of a database, as a restored dump. */
async function restored(url: string): Promise<string> {
  const copy = new URL(url)
  copy.pathname = `${copy.pathname}_restored`
  const server = new URL(url)
  server.pathname = '/postgres'
  await query(
    server.href,
    `CREATE DATABASE ${copy.pathname.slice(1)} TEMPLATE ${new URL(url).pathname.slice(1)}`,
  )
  return copy.href
}

test('a restored database has a new epoch, and a feed without the entries of the dump', async () => {
  const url = await newDatabase()
  const before = { epoch: '', head: '' }
  {
    await using store = await postgresStore({ url })
    before.head = await store.nodes.commits.head()
    before.epoch = await store.nodes.commits.epoch()
    await store.create(OLD, created(OLD))
  }
  const copy = await restored(url)
  await using store = await postgresStore({ url: copy })
  const { commits } = store.nodes
  const epoch = await commits.epoch()
  expect(epoch).toMatch(/^[0-9a-f]{8}$/)
  expect(epoch).not.toBe(before.epoch)
  await store.create(NEW, created(NEW))
  await expect.poll(() => commits.after('0.0.0')).toMatchObject([{ session: NEW, seq: 1, count: 3 }])
  expect(await store.read(OLD, 0, 9)).toHaveLength(3)
  // The place is the same from now on.
  await using again = await postgresStore({ url: copy })
  expect(await again.nodes.commits.epoch()).toBe(epoch)
})

test('a database that was restored to a point in time has a new epoch', async () => {
  await using server = await ownServer()
  const epochs: string[] = []
  for (const restart of [() => server.kill().then(() => server.start()), () => server.restore()]) {
    {
      await using store = await postgresStore({ url: server.url })
      epochs.push(await store.nodes.commits.epoch())
      await store.create(sessionId(epochs.length), created(sessionId(epochs.length)))
    }
    await restart()
  }
  await using store = await postgresStore({ url: server.url })
  const { commits } = store.nodes
  epochs.push(await commits.epoch())
  // A crash is no restore: its commits are all there.
  expect([epochs[1] === epochs[0], epochs[2] === epochs[1]]).toEqual([true, false])
  const id = sessionId(3)
  await store.create(id, created(id))
  await expect.poll(() => commits.after('0.0.0'), { timeout: 10_000 }).toMatchObject([{ session: id }])
}, 60_000)

test('a reader far behind gets the commits with entries of its types, and the last one', async () => {
  await using store = await postgresStore({ url: await newDatabase() })
  const { commits } = store.nodes
  const start = await commits.head()
  const wanted = [`${sessionId(3)}:20`, `${sessionId(5)}:30`]
  const write = async (id: string) => {
    await store.create(id, { entries: [], record: state(id) })
    for (let seq = 1; seq <= 50; seq++) {
      const queued = { type: 'turn.queued', turn: 1, prompt: 'x', position: 1 } as const
      const whole = { type: 'text.completed', messageId: 'm', text: 'y' } as const
      const other = seq % 2 === 0 ? whole : entry(id, seq).event
      const event = wanted.includes(`${id}:${seq}`) ? queued : other
      await store.append(id, { entries: [{ ...entry(id, seq), event }] })
    }
  }
  await Promise.all(Array.from({ length: 10 }, (_, index) => write(sessionId(index))))
  // The feed waits for every transaction of the server, also for those of other tests.
  const all = () => commitsAfter(commits, start)
  await expect.poll(async () => (await all()).length, { timeout: 30_000 }).toBe(500)
  const found = await commitsAfter(commits, start, new Set<EventType>(['turn.queued']))
  const last = (await all()).at(-1)
  expect(found.filter((one) => one !== last).toSorted()).toEqual(wanted)
  expect(found.at(-1)).toBe(last)
  // Streamed entries are in no index.
  expect((await commitsAfter(commits, start, new Set<EventType>(['output.written']))).length).toBe(500)
})

test('the feed has the entries of a session in their order, however many were committed together', async () => {
  await using store = await postgresStore({ url: await newDatabase() })
  const { commits } = store.nodes
  const start = await commits.head()
  await store.create(OLD, { entries: [], record: state(OLD) })
  // Often enough that PostgreSQL keeps one plan for all of them.
  for (let seq = 1; seq <= 1_000; seq++) {
    const written = store.append(OLD, { entries: [entry(OLD, seq)] })
    if (seq % 50 === 0) await written
  }
  const expected = Array.from({ length: 1_000 }, (_, index) => `${OLD}:${index + 1}`)
  const all = () => commitsAfter(commits, start)
  await expect.poll(async () => (await all()).length, { timeout: 30_000 }).toBe(1_000)
  expect(await all()).toEqual(expected)
})

/** Each commit that a reader gets, by its session and its first entry. */
async function commitsAfter(
  commits: CommitLog,
  from: string,
  types?: ReadonlySet<EventType>,
): Promise<string[]> {
  const found: string[] = []
  for (let position = from; ; ) {
    const page = await commits.after(position, { types })
    const last = page.at(-1)
    if (!last) return found
    found.push(...page.map(({ session, seq }) => `${session}:${seq}`))
    position = `${last.position}.${last.count}`
  }
}

test('the epoch of a database stays when it is opened again', async () => {
  const url = await newDatabase()
  const epochs: string[] = []
  for (let times = 0; times < 2; times++) {
    await using store = await postgresStore({ url })
    epochs.push(await store.nodes.commits.epoch())
  }
  expect(epochs[1]).toBe(epochs[0])
})
