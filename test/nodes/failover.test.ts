import { expect, test } from 'vitest'
import { MainstemError } from '../../src/model/index.ts'
import { asks, init, result, said } from '../sessions/house.ts'
import { cluster, passing, type SharedStore, TTL } from './cluster.ts'

const NEW = { agent: 'claude', cwd: '/work' }

/** A node that can be killed: from then on the store never answers it. */
async function mortal(options: { roots?: readonly string[] } = {}) {
  const all = cluster()
  let isDead = false
  const dead = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return name === 'nodes' ? dead(Object(value)) : value
        return (...args: unknown[]) =>
          isDead ? new Promise(() => undefined) : (value.apply(target, args) as unknown)
      },
    })
  const a = await all.nodeOf('a', { ...options, seen: (store: SharedStore) => dead(store) }).start()
  const kill = () => {
    isDead = true
  }
  return { ...all, a, kill }
}

const eventsOf = async (store: SharedStore, id: string) =>
  (await store.read(id, 0, 1000)).map(({ event }) => event)

test('a dead node costs its running turn, and another node runs what waited', async () => {
  const { a, kill, nodeOf, store, time } = await mortal()
  const b = await nodeOf('b').start()
  const session = await a.cluster.create(NEW, 'first')
  await session.prompt('second')
  const run = await a.driver.run()
  run.say(init, asks('r1'))
  await expect.poll(async () => (await store.record(session.id))?.requests.length).toBe(1)
  kill()
  const killed = time.now
  const next = await passing(time, b.driver.run())
  expect(time.now - killed).toBeLessThanOrEqual(TTL + 2_000)
  const events = await eventsOf(store, session.id)
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'turn.completed',
      turn: 1,
      outcome: 'lost',
      error: { code: 'node_lost', message: 'node "a", which ran the turn, went away' },
    }),
  )
  expect(events).toContainEqual(expect.objectContaining({ type: 'request.withdrawn' }))
  next.say(init, said('done'), result('done'))
  await expect.poll(async () => (await store.record(session.id))?.lastOutcome).toBe('completed')
  expect(await store.record(session.id)).toMatchObject({ node: 'b', queue: [] })
  expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(2)
})

const usedUp = (resetsAt: number) => ({
  type: 'rate_limit_event',
  rate_limit_info: { status: 'rejected', resetsAt: resetsAt / 1000 },
})
const ENDED = {
  type: 'result',
  subtype: 'success',
  is_error: true,
  api_error_status: 429,
  result: 'no quota',
}

test('a continuation that a dead node planned runs once, on one of the others', async () => {
  const { a, kill, nodeOf, store, time } = await mortal()
  const b = await nodeOf('b').start()
  const c = await nodeOf('c').start()
  const session = await a.cluster.create({ ...NEW, options: { onLimit: 'wait' } }, 'first')
  const run = await a.driver.run()
  run.say(init, usedUp(time.now + 60_000), ENDED)
  await expect.poll(async () => (await store.record(session.id))?.queue.length).toBe(1)
  kill()
  for (let passed = 0; passed < 120_000; passed += 500) await time.pass(500)
  const runs = [...b.driver.runs, ...c.driver.runs]
  expect(runs).toHaveLength(1)
  runs[0]?.say(init, said('done'), result('done'))
  await expect.poll(async () => (await store.record(session.id))?.queue).toEqual([])
  const events = await eventsOf(store, session.id)
  expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(2)
})

test('another node cancels a continuation, and no node runs it', async () => {
  const { nodeOf, store, time } = cluster()
  const a = await nodeOf('a').start()
  const b = await nodeOf('b').start()
  const session = await a.cluster.create({ ...NEW, options: { onLimit: 'wait' } }, 'first')
  const run = await a.driver.run()
  run.say(init, usedUp(time.now + 60_000), ENDED)
  await expect.poll(async () => (await store.record(session.id))?.queue.length).toBe(1)
  const routed = await b.cluster.running(session.id)
  await passing(time, routed?.interrupt() ?? Promise.reject(new Error('nothing runs')))
  for (let passed = 0; passed < 120_000; passed += 500) await time.pass(500)
  const events = await eventsOf(store, session.id)
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'turn.completed', turn: 2, outcome: 'interrupted' }),
  )
  expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(1)
})

test('an interrupt between two owners is confirmed when the turn has ended', async () => {
  const { a, kill, nodeOf, store, time } = await mortal()
  const b = nodeOf('b')
  await b.cluster.join()
  const { id } = await a.cluster.create(NEW, 'first')
  await a.driver.run()
  kill()
  await time.pass(TTL + 1_000)
  expect(await store.nodes.ownerOf(id)).toBeUndefined()
  const interrupted = b.cluster.running(id).then((session) => session?.interrupt())
  const confirmed = interrupted.then(() => store.record(id))
  await time.pass(1_000)
  b.cluster.start()
  expect(await passing(time, confirmed)).toMatchObject({ lastOutcome: 'lost', status: 'idle' })
})

test('a prompt that waits is not started where its directory is not', async () => {
  const { a, kill, nodeOf, store, time } = await mortal({ roots: ['/work'] })
  const b = await nodeOf('b', { roots: ['/other'] }).start()
  const session = await a.cluster.create(NEW, 'first')
  await session.prompt('second')
  kill()
  await passing(
    time,
    until(async () => (await store.record(session.id))?.openTurn === undefined),
  )
  expect(b.driver.runs).toEqual([])
  expect(await store.record(session.id)).toMatchObject({ lastOutcome: 'lost', queue: [{ turn: 2 }] })
  // Released at once, so that a node with the directory need not wait.
  expect(await store.nodes.ownerOf(session.id)).toBeUndefined()
  const c = await nodeOf('c', { roots: ['/work'] }).start()
  await passing(time, c.driver.run())
  await expect((await b.cluster.open(session.id)).prompt('third')).resolves.toBe(3)
})

test('a command to a dead owner is applied by the sender, once its lease has ended', async () => {
  const { a, kill, nodeOf, store, time } = await mortal()
  const b = await nodeOf('b').start()
  const { id } = await a.cluster.create(NEW)
  kill()
  const there = await b.cluster.open(id)
  expect(await passing(time, there.prompt('go'))).toBe(1)
  await b.driver.run()
  expect(await store.record(id)).toMatchObject({ node: 'b', openTurn: 1 })
})

test('an interrupt to a dead owner is confirmed when its turn has ended, not before', async () => {
  const { a, kill, nodeOf, store, time } = await mortal()
  const b = await nodeOf('b').start()
  const { id } = await a.cluster.create(NEW, 'go')
  kill()
  const there = await b.cluster.open(id)
  await passing(time, there.interrupt(1))
  expect(await store.record(id)).toMatchObject({ lastOutcome: 'lost', status: 'idle' })
})

test('a command whose owner dies after its effect and before its outcome has one effect', async () => {
  const { nodeOf, store, time } = cluster()
  let isDead = false
  const mute = (shared: SharedStore): SharedStore => {
    const stuck = () => new Promise<never>(() => undefined)
    const nodes = new Proxy(shared.nodes, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          // It dies right before it would tell the outcome.
          if (name === 'settle') isDead = true
          return isDead ? stuck() : value.apply(target, args)
        }
      },
    })
    return new Proxy(shared, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (name === 'nodes') return nodes
        return typeof value === 'function'
          ? (...args: unknown[]) => (isDead ? stuck() : value.apply(target, args))
          : value
      },
    })
  }
  const a = await nodeOf('a', { seen: mute }).start()
  const b = await nodeOf('b').start()
  const { id } = await a.cluster.create(NEW)
  expect(await passing(time, (await b.cluster.open(id)).prompt('go'))).toBe(1)
  const events = await eventsOf(store, id)
  expect(events.filter(({ type }) => type === 'turn.started')).toHaveLength(1)
  expect(await store.record(id)).toMatchObject({ turns: 1 })
})

test('a node that stops hands its queue over at once', async () => {
  const { nodeOf, store, time } = cluster()
  const a = await nodeOf('a').start()
  const b = await nodeOf('b').start()
  const session = await a.cluster.create(NEW, 'first')
  await session.prompt('second')
  const run = await a.driver.run()
  run.say(init)
  await passing(time, a.stop())
  const stopped = time.now
  await passing(time, b.driver.run())
  expect(time.now - stopped).toBeLessThanOrEqual(2_000)
  expect((await b.cluster.nodes()).map(({ name }) => name)).toEqual(['b'])
  expect(await store.record(session.id)).toMatchObject({ node: 'b', openTurn: 2 })
})

test('a node that stops hands idle sessions over at once, and a running one when its turn ends', async () => {
  const { nodeOf, store, time } = cluster()
  const a = await nodeOf('a').start()
  const b = await nodeOf('b').start()
  const idle = await a.cluster.create(NEW)
  const busy = await a.cluster.create(NEW, 'first')
  const run = await a.driver.run()
  run.say(init)
  const stopped = a.stop(TTL)
  await expect.poll(() => store.nodes.ownerOf(idle.id)).toBeUndefined()
  // The node that stops passes work on.
  expect(await passing(time, (await a.cluster.open(idle.id)).prompt('here'))).toBe(1)
  expect(await store.record(idle.id)).toMatchObject({ node: 'b', openTurn: 1 })
  expect(await (await b.cluster.open(busy.id)).prompt('second')).toBe(2)
  expect(await store.record(busy.id)).toMatchObject({ node: 'a', openTurn: 1, queue: [{ turn: 2 }] })
  run.say(said('done'), result('done'))
  await passing(time, stopped)
  expect(a.driver.runs).toHaveLength(1)
  await passing(
    time,
    until(async () => (await store.record(busy.id))?.openTurn === 2),
  )
  expect(await store.record(busy.id)).toMatchObject({ node: 'b', lastOutcome: 'completed' })
})

test('a node that settles the session of a dead node and runs it again keeps its lease', async () => {
  const { a, kill, nodeOf, store, time } = await mortal()
  const releasing = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const slow = (shared: SharedStore): SharedStore =>
    new Proxy(shared, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (name !== 'append') return typeof value === 'function' ? value.bind(target) : value
        return async (...args: Parameters<SharedStore['append']>) => {
          if (args[1].release) {
            releasing.resolve()
            await released.promise
          }
          return target.append(...args)
        }
      },
    })
  const b = await nodeOf('b', { seen: slow }).start()
  const { id } = await a.cluster.create(NEW, 'first')
  await a.driver.run()
  kill()
  await passing(time, releasing.promise)
  const prompted = b.cluster.open(id).then((session) => session.prompt('second'))
  for (let tick = 0; tick < 20; tick++) await new Promise((resolve) => setImmediate(resolve))
  released.resolve()
  expect(await passing(time, prompted)).toBe(2)
  await b.driver.run()
  expect(await store.nodes.ownerOf(id)).toBe('b')
})

test('a single task ends its session, also when the node that placed it elsewhere is dead', async () => {
  const { a, kill, nodeOf, store, time } = await mortal({ roots: ['/other'] })
  const b = await nodeOf('b').start()
  const once = { scope: 's', key: 'k', fingerprint: 'f' }
  const { id } = await a.cluster.createOnce(once, async () => ({ ...NEW, single: true }), 'go')
  const run = await b.driver.run()
  kill()
  run.say(init, said('done'), result('done'))
  await expect.poll(async () => (await store.record(id))?.lastOutcome).toBe('completed')
  await passing(
    time,
    until(async () => (await store.record(id))?.status === 'ended'),
  )
})

test('another node ends the session of a single task whose node died', async () => {
  const { a, kill, nodeOf, store, time } = await mortal()
  await nodeOf('b').start()
  const once = { scope: 's', key: 'k', fingerprint: 'f' }
  const { id } = await a.cluster.createOnce(once, async () => ({ ...NEW, single: true }), 'go')
  await a.driver.run()
  kill()
  await passing(
    time,
    until(async () => (await store.record(id))?.status === 'ended'),
  )
  const events = await eventsOf(store, id)
  expect(events.slice(-2)).toMatchObject([
    { type: 'turn.completed', outcome: 'lost' },
    { type: 'session.ended', reason: 'lost' },
  ])
})

test('another node ends the session of a single task whose node died before the agent had exited', async () => {
  const { a, kill, nodeOf, store, time } = await mortal()
  await nodeOf('b').start()
  const once = { scope: 's', key: 'k', fingerprint: 'f' }
  const { id } = await a.cluster.createOnce(once, async () => ({ ...NEW, single: true }), 'go')
  const run = await a.driver.run()
  run.say(init, said('done'), result('done'))
  await expect.poll(async () => (await store.record(id))?.lastOutcome).toBe('completed')
  // The end of the turn is committed, and that of the session waits for the exit.
  void a.cluster.finish(id)
  expect([run.isAlive, (await store.record(id))?.status]).toEqual([true, 'idle'])
  kill()
  await passing(
    time,
    until(async () => (await store.record(id))?.status === 'ended'),
  )
  expect((await eventsOf(store, id)).at(-1)).toEqual({ type: 'session.ended', reason: 'completed' })
})

test('a node that stops ends the session of a single task instead of handing it over', async () => {
  const { nodeOf, store, time } = cluster()
  const a = await nodeOf('a').start()
  const once = { scope: 's', key: 'k', fingerprint: 'f' }
  const { id } = await a.cluster.createOnce(once, async () => ({ ...NEW, single: true }), 'go')
  const run = await a.driver.run()
  const stopped = a.stop(TTL)
  run.say(init, said('done'), result('done'))
  await passing(time, stopped)
  expect(await store.record(id)).toMatchObject({ status: 'ended', lastOutcome: 'completed' })
})

test('a node that lost its name to another process stops its agents', async () => {
  const { nodeOf, store, time } = cluster()
  const a = await nodeOf('a').start()
  await a.cluster.create(NEW, 'go')
  const run = await a.driver.run()
  await store.nodes.leave('a', 'process-1')
  const other = { version: '0', labels: [], roots: [], processes: 0, maxProcesses: 1, draining: false }
  await store.nodes.register('a', 'other', other, 10 * TTL)
  await passing(time, run.exit)
  expect(a.reported).toContainEqual(expect.objectContaining({ code: 'conflict' }))
  expect(a.reported[0]).toBeInstanceOf(MainstemError)
})

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setImmediate(resolve))
}
