import { expect, test } from 'vitest'
import { asks, init, result, said } from '../sessions/house.ts'
import { cluster, passing, TTL } from './cluster.ts'

const NEW = { agent: 'claude', cwd: '/work' }
const KEY = { scope: 's', key: 'k', fingerprint: 'f' }

/** Two nodes and a session that runs on the first. */
async function two() {
  const all = cluster()
  const a = await all.nodeOf('a').start()
  const b = await all.nodeOf('b').start()
  const { id } = await a.cluster.create(NEW)
  return { ...all, a, b, id }
}
const INFO = { version: '0', labels: [], roots: [], processes: 0, maxProcesses: 1, draining: false }

test('a prompt at any node runs on the node that owns the session', async () => {
  const { a, b, id, store, time } = await two()
  const there = await b.cluster.open(id)
  expect(await there.prompt('go')).toBe(1)
  const run = await a.driver.run()
  run.say(init, said('done'), result('done'))
  await passing(time, there.ended(1))
  expect(b.driver.runs).toEqual([])
  expect(await store.record(id)).toMatchObject({ node: 'a', lastOutcome: 'completed', turns: 1 })
})

test('a request is answered at any node, and once', async () => {
  const { a, b, id, store } = await two()
  await (await a.cluster.open(id)).prompt('go')
  const run = await a.driver.run()
  run.say(init, asks('r1'))
  await expect.poll(async () => (await store.record(id))?.requests.length).toBe(1)
  const [request] = (await store.record(id))?.requests ?? []
  const { requestId = '', inputDigest = '' } = request ?? {}
  const decisions = [a, b].map(async ({ cluster }) =>
    (await cluster.open(id)).answer({ type: 'answer', requestId, inputDigest, decision: 'allow' }),
  )
  const settled = await Promise.allSettled(decisions)
  expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  await expect.poll(() => run.input.match(/control_response/g)?.length).toBe(1)
})

test('an interrupt at another node overtakes what waits, and settles with the end of the turn', async () => {
  const { a, b, id, store } = await two()
  const there = await b.cluster.open(id)
  await there.prompt('go')
  const run = await a.driver.run()
  run.say(init)
  run.onWrite = (write) => {
    if (write.kind === 'text' && write.text.includes('"interrupt"')) run.die({ signal: 'SIGINT' })
  }
  await there.interrupt()
  expect(await store.record(id)).toMatchObject({ lastOutcome: 'interrupted' })
})

test('refusals come back from the owner with their code and details', async () => {
  const { b, id } = await two()
  const there = await b.cluster.open(id)
  await expect(there.steer('more')).rejects.toMatchObject({ code: 'conflict' })
  const answer = { type: 'answer', requestId: 'none', inputDigest: '', decision: 'allow' } as const
  await expect(there.answer(answer)).rejects.toMatchObject({ code: 'request_not_found' })
  await b.cluster.end(id)
  await expect(there.prompt('late')).rejects.toMatchObject({ code: 'conflict' })
  await expect((await b.cluster.open(`${id}0`)).prompt('x')).rejects.toMatchObject({
    code: 'session_not_found',
  })
})

test('settings, deliveries, the end and the deletion of a session work at any node', async () => {
  const { b, id, store } = await two()
  const there = await b.cluster.open(id)
  expect(await there.change({ type: 'set_model', model: 'm2' })).toBe('now')
  expect(await store.record(id)).toMatchObject({ options: { model: 'm2' } })
  expect(await there.describe()).toEqual({ idle: false })
  expect(await there.interruptAll()).toBe(false)
  await b.cluster.remember(id, { claims: [{ ...KEY, answer: 'id' }] })
  expect(await store.receipt('s', 'k')).toMatchObject({ answer: id })
  await b.cluster.end(id)
  expect(await store.record(id)).toMatchObject({ status: 'ended' })
  await b.cluster.delete(id)
  expect(await store.record(id)).toBeUndefined()
})

test('one key at two nodes at the same moment makes one session', async () => {
  const all = cluster()
  const nodes = await Promise.all(['a', 'b', 'c'].map((name) => all.nodeOf(name).start()))
  const made = await Promise.all(nodes.map((node) => node.cluster.createOnce(KEY, async () => NEW, 'go')))
  expect(new Set(made.map(({ id }) => id)).size).toBe(1)
  expect(made.filter(({ session }) => session)).toHaveLength(1)
  expect(nodes.flatMap(({ driver }) => driver.runs)).toHaveLength(1)
})

test('one key at two nodes at the same moment makes one turn', async () => {
  const { a, b, id, store } = await two()
  const claims = [{ ...KEY, answer: 'turn' }] as const
  // As the gateways do: a key is entered before anything else.
  const flight = await a.sessions.receipts.inFlight.enter(KEY)
  const here = (await a.cluster.open(id)).prompt('go', [], { claims })
  // Waits for the first one, and is then told that it has a receipt.
  const there = expect((await b.cluster.open(id)).prompt('go', [], { claims })).rejects.toMatchObject({
    code: 'conflict',
  })
  expect(await here).toBe(1)
  flight.leave()
  await there
  await expect((await b.cluster.open(id)).prompt('go', [], { claims })).rejects.toMatchObject({
    code: 'conflict',
  })
  const other = [{ ...KEY, fingerprint: 'other', answer: 'turn' }] as const
  await expect((await b.cluster.open(id)).prompt('no', [], { claims: other })).rejects.toMatchObject({
    code: 'idempotency_conflict',
  })
  expect(await store.record(id)).toMatchObject({ turns: 1 })
})

test('a new session goes to a node with its root and its labels', async () => {
  const all = cluster()
  const a = await all.nodeOf('a', { roots: ['/srv/a'] }).start()
  const b = await all.nodeOf('b', { roots: ['/srv/b'], labels: ['gpu'] }).start()
  const { id } = await a.cluster.create({ agent: 'claude', cwd: '/srv/b/x' }, 'go')
  expect(await all.store.nodes.ownerOf(id)).toBe('b')
  expect((await b.driver.run()).context.cwd).toBe('/srv/b/x')
  const labelled = await a.cluster.create({ agent: 'claude', cwd: '/srv/b', labels: ['gpu'] })
  expect(await all.store.record(labelled.id)).toMatchObject({ node: 'b', labels: ['gpu'] })
  const nowhere = a.cluster.create({ agent: 'claude', cwd: '/srv/a', labels: ['gpu'] })
  await expect(nowhere).rejects.toMatchObject({
    code: 'overloaded',
    message: 'no live node with the labels gpu has a root above /srv/a',
  })
})

test('a new session goes to a node that has its extra directories, and that node checks them', async () => {
  const all = cluster()
  const a = await all.nodeOf('a', { roots: ['/srv/a'] }).start()
  await all.nodeOf('b', { roots: ['/srv/a', '/srv/b'] }).start()
  const options = { extraDirectories: ['/srv/b/lib'] }
  const { id } = await a.cluster.create({ agent: 'claude', cwd: '/srv/a', options })
  expect(await all.store.record(id)).toMatchObject({ node: 'b', options })
  const nowhere = a.cluster.create({
    agent: 'claude',
    cwd: '/srv/a',
    options: { extraDirectories: ['/srv/c'] },
  })
  await expect(nowhere).rejects.toMatchObject({
    code: 'overloaded',
    message: 'no live node has a root above /srv/a and /srv/c',
  })
})

test('a new session goes to a less busy node, and elsewhere when that one refuses', async () => {
  const all = cluster()
  const a = await all.nodeOf('a', { maxProcesses: 1 }).start()
  await all.nodeOf('b', { maxProcesses: 1 }).start()
  const first = await a.cluster.create(NEW, 'go')
  await a.driver.run()
  await a.cluster.announce()
  const second = await a.cluster.create(NEW, 'go')
  const owners = [first, second].map(({ id }) => all.store.nodes.ownerOf(id))
  expect(await Promise.all(owners)).toEqual(['a', 'b'])
  // Both are full, and one of them does not know yet that the other is.
  await expect(a.cluster.create(NEW, 'go')).rejects.toMatchObject({ code: 'overloaded' })
})

test('a name is refused while its process lives, and free once it is gone', async () => {
  const all = cluster()
  await all.nodeOf('a').start()
  const second = all.nodeOf('a').start()
  await expect(passing(all.time, second)).rejects.toMatchObject({ code: 'conflict' })
})

test('a node that crashed comes back under its name', async () => {
  const { store, time, nodeOf } = cluster()
  // The registration of a process that does not renew it.
  await store.nodes.register('a', 'gone', INFO, TTL)
  const again = nodeOf('a').start()
  expect((await passing(time, again)).name).toBe('a')
})

test('unknown commands of a newer node are refused by name', async () => {
  const { store, b } = await two()
  await store.nodes.send({ id: 'x', node: b.name, urgent: false, body: '{"kind":"dance"}' }, TTL)
  const outcome = await store.nodes.outcome('x', new AbortController().signal)
  expect(JSON.parse(outcome ?? '')).toMatchObject({ error: { code: 'unsupported_option' } })
  expect(b.reported).toEqual([])
})
