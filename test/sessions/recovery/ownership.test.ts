import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { MainstemError } from '../../../src/model/index.ts'
import { Ownership } from '../../../src/sessions/recovery/ownership.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { sqliteStore } from '../../../src/stores/sqlite.ts'
import type { Store } from '../../../src/stores/store.ts'
import { entries, sessionId, state } from '../../stores/sqlite-parts.ts'
import { FakeTime } from '../fake-driver.ts'
import { asks, house, init, result, said } from '../house.ts'

const TTL = 30_000
/** Agents are stopped so long before the lease can end. */
const STOP = 12_000

/** A store and servers on it that share one time. */
function cluster() {
  const time = new FakeTime()
  const store = memoryStore(() => time.now)
  const reachable = new Map<string, boolean>()
  const serverOf = (owner: string, slow: Partial<Store> = {}) => {
    reachable.set(owner, true)
    const server = house(
      whileReachable(store, slow, () => reachable.get(owner) ?? false),
      { terms: { owner, ttlMs: TTL }, background: time, time },
    )
    return { ...server, cut: () => reachable.set(owner, false) }
  }
  return { time, store, serverOf }
}
/** Every question to the store fails once it cannot be reached. `slow` answers some of them instead. */
function whileReachable(store: Store, slow: Partial<Store>, isReachable: () => boolean): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(slow, name) ?? Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        if (!isReachable()) throw new MainstemError('storage_failed', 'the store cannot be reached')
        return value.apply(target, args)
      }
    },
  })
}

test('a change by an owner that was replaced does not reach the record of the new owner', async () => {
  const { time, store, serverOf } = cluster()
  const [a, b] = [serverOf('a'), serverOf('b')]
  const session = await a.open()
  // The owner is suspended, so it neither renews nor notices.
  time.now += TTL
  await b.sessions.recover()
  const taken = await b.sessions.open(session.id)
  await taken.prompt('first')
  await taken.prompt('second')
  const before = await store.record(session.id)
  expect(before).toMatchObject({ openTurn: 1, queue: [{ turn: 2 }] })
  await expect(session.change({ type: 'set_model', model: 'other' })).rejects.toMatchObject({
    code: 'fenced',
  })
  expect(await store.record(session.id)).toEqual(before)
})

test('an open request is decided once: the decision of an owner that was replaced is refused', async () => {
  const { time, store, serverOf } = cluster()
  const [a, b] = [serverOf('a'), serverOf('b')]
  const session = await a.open()
  await session.prompt('go')
  const run = await a.driver.run()
  run.say(init, asks('r1'))
  await expect.poll(async () => (await store.record(session.id))?.requests.length).toBe(1)
  const [request] = (await store.record(session.id))?.requests ?? []
  time.now += TTL
  await b.sessions.recover()
  const answer = {
    type: 'answer',
    requestId: request?.requestId ?? '',
    inputDigest: request?.inputDigest ?? '',
    decision: 'allow',
  } as const
  await expect(session.answer(answer)).rejects.toMatchObject({ code: 'fenced' })
  expect(run.input).not.toContain('control_response')
  const types = await b.types(session)
  expect(types.filter((type) => type.startsWith('request.'))).toEqual(['request.opened', 'request.withdrawn'])
})

test('a server that cannot renew stops its agents before another can acquire, and the turn is lost', async () => {
  const { time, store, serverOf } = cluster()
  const [a, b] = [serverOf('a'), serverOf('b')]
  const session = await a.open()
  await session.prompt('go')
  const run = await a.driver.run()
  const settled = session.settled(1)
  settled.catch(() => undefined)
  a.cut()
  await time.pass(TTL - STOP - 1)
  expect(run.stops).toBe(0)
  await time.pass(1)
  expect(run.stops).toBe(1)
  await expect(settled).rejects.toMatchObject({ code: 'fenced' })
  // Nobody could have taken it so far.
  await expect(b.sessions.open(session.id)).rejects.toMatchObject({ code: 'fenced' })
  await time.pass(STOP)
  expect(await b.sessions.recover()).toBe(1)
  const last = (await store.read(session.id, 0, 100)).at(-1)?.event
  expect(last).toMatchObject({ type: 'turn.completed', outcome: 'lost' })
})

test('a server that renews keeps its sessions for as long as it lives', async () => {
  const { time, serverOf } = cluster()
  const [a, b] = [serverOf('a'), serverOf('b')]
  const session = await a.open()
  await session.prompt('go')
  const run = await a.driver.run()
  run.say(init, said('working'))
  await expect.poll(() => a.types(session)).toContain('text.completed')
  await time.pass(10 * TTL)
  expect(run.stops).toBe(0)
  await expect(b.sessions.open(session.id)).rejects.toMatchObject({ code: 'fenced' })
  expect(await b.sessions.recover()).toBe(0)
})

test('a server that was suspended too long stops its agents as soon as it wakes', async () => {
  const { time, serverOf } = cluster()
  const a = serverOf('a')
  const session = await a.open()
  await session.prompt('go')
  const run = await a.driver.run()
  await time.jump(TTL)
  expect(run.stops).toBe(1)
})

describe.each<[string, () => Store | Promise<Store>]>([
  ['memory', () => memoryStore()],
  ['SQLite', () => sqliteStore({ directory: mkdtempSync(join(tmpdir(), 'suspended-')) })],
])('a server that has its %s store to itself', (_, open) => {
  test('keeps its turn, its agent and its queue while it is suspended, however long', async () => {
    await using store = await open()
    const time = new FakeTime()
    const a = house(store, { background: time, time })
    const session = await a.open()
    await session.prompt('go')
    const run = await a.driver.run()
    run.say(init)
    await expect.poll(() => session.coverage.frames).toBe(1)
    for (const suspendedMs of [22_000, TTL, 3_600_000, 86_400_000]) await time.jump(suspendedMs)
    expect(run.stops).toBe(0)
    run.say(said('still here'), result('done'))
    expect(await session.settled(1)).toMatchObject({ outcome: 'completed', result: 'done' })
    expect(await session.prompt('more')).toBe(2)
    expect(await a.sessions.record(session.id)).toMatchObject({ openTurn: 2 })
    run.say(init, said('more', 'msg_2'), result('more'))
    expect(await session.settled(2)).toMatchObject({ outcome: 'completed' })
  })
})

test('a server that only lost its leases settles its turns as lost and continues', async () => {
  const { time, serverOf } = cluster()
  const a = serverOf('a')
  const session = await a.open()
  await session.prompt('go')
  await a.driver.run()
  await session.prompt('waits')
  await time.jump(TTL)
  await expect.poll(() => a.driver.runs.length).toBe(2)
  const outcomes = (await a.log(session)).flatMap(({ event }) =>
    event.type === 'turn.completed' ? [[event.turn, event.outcome]] : [],
  )
  expect(outcomes).toEqual([[1, 'lost']])
})

test('a lease that came too late is not used: the agent starts under one that came in time', async () => {
  const { time, store, serverOf } = cluster()
  const b = serverOf('b')
  const session = await b.open()
  await b.sessions.drain()
  let acquired = 0
  const a = serverOf('a', {
    async acquire(id, owner, ttlMs) {
      // The first answer arrives when an agent of this lease would have to end already.
      if (acquired++ === 0) time.now += TTL - STOP
      return store.acquire(id, owner, ttlMs)
    },
  })
  await (await a.sessions.open(session.id)).prompt('go')
  const run = await a.driver.run()
  expect(acquired).toBe(2)
  a.cut()
  await time.pass(TTL - STOP)
  expect(run.stops).toBe(1)
})

test('a session whose creation took too long is lost at once, and continues under a new lease', async () => {
  const { time, store, serverOf } = cluster()
  const a = serverOf('a', {
    async create(...args) {
      const created = await store.create(...args)
      time.now += TTL - STOP
      return created
    },
  })
  const session = await a.sessions.create({ agent: 'claude', cwd: '/' }, 'go')
  await expect.poll(async () => (await store.record(session.id))?.lastOutcome).toBe('lost')
  expect(await (await a.sessions.open(session.id)).prompt('again')).toBe(2)
})

test('a session that another server has is not recovered or deleted', async () => {
  const { store, serverOf } = cluster()
  const [a, b] = [serverOf('a'), serverOf('b')]
  const session = await a.open()
  await session.prompt('go')
  await a.driver.run()
  expect(await b.sessions.recover()).toBe(0)
  await expect(b.sessions.delete(session.id)).rejects.toMatchObject({ code: 'fenced' })
  expect(await store.record(session.id)).toMatchObject({ openTurn: 1 })
})

test('recovery may run at any time: what this server runs is left alone', async () => {
  let sweeps = 0
  const a = house(memoryStore(), { sweep: async () => void sweeps++ })
  await a.sessions.recover()
  const session = await a.open()
  await session.prompt('go')
  const run = await a.driver.run()
  expect(await a.sessions.recover()).toBe(0)
  expect(sweeps).toBe(1)
  run.say(init, said('still here'))
  await expect.poll(() => a.types(session)).toContain('text.completed')
})

test('a restarted server has its sessions at once, and its earlier process is refused', async () => {
  const { serverOf } = cluster()
  const before = serverOf('a')
  const session = await before.open()
  await session.prompt('go')
  const after = serverOf('a')
  expect(await after.sessions.recover()).toBe(1)
  await expect(session.prompt('more')).rejects.toMatchObject({ code: 'fenced' })
})

test('a drained server frees its sessions, and one that ended is free with its last commit', async () => {
  const { serverOf } = cluster()
  const [a, b] = [serverOf('a'), serverOf('b')]
  const [idle, ended] = [await a.open(), await a.open()]
  await a.sessions.end(ended.id)
  await b.sessions.delete(ended.id)
  await expect(b.sessions.open(idle.id)).rejects.toMatchObject({ code: 'fenced' })
  await a.sessions.drain()
  await b.sessions.open(idle.id)
})

test('concurrent opens, trims and stored keys of one session do not fence each other', async () => {
  const { serverOf } = cluster()
  const first = serverOf('a')
  const session = await first.open()
  await first.sessions.drain()
  const { sessions } = serverOf('a')
  const claim = { scope: 's', key: 'k', fingerprint: 'f', answer: 'id' } as const
  const [one, two] = await Promise.all([
    sessions.open(session.id),
    sessions.open(session.id),
    sessions.trim(session.id, 1),
    sessions.remember(session.id, { claims: [claim] }),
  ])
  expect(one).toBe(two)
  await sessions.trim(session.id, 1)
  expect(await one.prompt('go')).toBe(1)
})

test('a renewal that fails now and then costs nothing', async () => {
  const time = new FakeTime()
  let calls = 0
  const store = memoryStore(() => time.now)
  const flaky = new Proxy(store, {
    get: (target, name) =>
      name === 'renew' && calls++ % 2 === 0
        ? async () => {
            throw new MainstemError('storage_failed', 'now and then')
          }
        : Reflect.get(target, name).bind(target),
  })
  const lost: MainstemError[] = []
  const clock = { now: () => time.now, monotonic: () => time.now }
  const terms = { owner: 'a', ttlMs: TTL }
  const ownership = new Ownership({ store: flaky, clock, background: time, terms }, (error) =>
    lost.push(error),
  )
  const id = sessionId(1)
  await store.create(id, { entries: entries(id, 1, 1), record: state(id) })
  const fence = await ownership.acquire(id)
  expect(await ownership.acquire(id)).toBe(fence)
  await time.pass(5 * TTL)
  expect(calls).toBeGreaterThan(20)
  expect(lost).toEqual([])
  expect(await ownership.acquire(id)).toBe(fence)
  await ownership.stop()
  expect(await store.acquire(id, 'b', TTL)).toEqual({ fence: fence + 1 })
})
