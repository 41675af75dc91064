import { expect, test } from 'vitest'
import type { Actor } from '../../src/model/access.ts'
import { asks, init } from '../sessions/house.ts'
import { cluster, passing } from './cluster.ts'

const NEW = { agent: 'claude', cwd: '/work' }
const alice: Actor = { principal: 'alice', client: 'page', address: '10.0.0.7', request: 'r1' }
const bob: Actor = { principal: 'bob', client: 'terminal', address: '10.0.0.8', request: 'r2' }

/** The session runs on `a`; the commands arrive at `b`. */
async function two() {
  const all = cluster()
  const a = await all.nodeOf('a', { roots: ['/work'] }).start()
  const b = await all.nodeOf('b', { roots: ['/other'] }).start()
  const rows = () => all.store.access.audit({ order: 'oldest', limit: 100 })
  return { ...all, a, b, rows }
}

test('the audit names the person and the address of a command that another node applied', async () => {
  const { a, b, rows, store, time } = await two()
  const { id } = await b.cluster.create(NEW, 'go', { actor: alice })
  expect(await store.record(id)).toMatchObject({
    node: 'a',
    openTurnBy: { principal: 'alice', client: 'page' },
  })
  const there = await b.cluster.open(id)
  const run = await a.driver.run()
  run.say(init, asks('q1'))
  await expect.poll(async () => (await store.record(id))?.requests.length).toBe(1)
  const { requestId = '', inputDigest = '' } = (await store.record(id))?.requests[0] ?? {}
  const answer = { type: 'answer', requestId, inputDigest, decision: 'allow' } as const
  await there.answer(answer, { actor: bob })
  await there.prompt('next', [], { actor: bob })
  await there.steer('left', { actor: bob })
  await there.change({ type: 'set_model', model: 'm' }, { actor: bob })
  await there.change({ type: 'set_policy', policy: { approval: 'ask', sandbox: 'none' } }, { actor: bob })
  await there.rename('heron', { actor: alice })
  expect(await store.record(id)).toMatchObject({ name: 'heron' })
  await there.interrupt(2, { actor: alice })
  run.onWrite = () => run.die({ signal: 'SIGINT' })
  await passing(time, b.cluster.end(id, { actor: alice }))
  await b.cluster.delete(id, { actor: bob })
  const done = (await rows()).map(({ action, principal, client, address, request, session }) => {
    const { [principal]: actor } = { alice, bob } as Readonly<Record<string, Actor>>
    expect({ principal, client, address, request }).toEqual(actor)
    expect(session).toBe(id)
    return `${principal}: ${action}`
  })
  // The last one may be another node's, at the same millisecond.
  expect(done.toSorted()).toEqual(
    [
      'alice: session.created',
      'alice: prompt.sent',
      'bob: request.answered',
      'bob: prompt.sent',
      'bob: turn.steered',
      'bob: model.changed',
      'bob: policy.changed',
      'alice: session.renamed',
      'alice: turn.interrupted',
      'alice: session.ended',
      'bob: session.deleted',
    ].toSorted(),
  )
})

test('a prompt that another node queued names its sender after the next owner took over', async () => {
  const { a, b, store, time, nodeOf } = await two()
  const { id } = await b.cluster.create(NEW, 'go', { actor: alice })
  await (await a.driver.run()).say(init)
  await (await b.cluster.open(id)).prompt('next', [], { actor: bob })
  const c = await nodeOf('c', { roots: ['/work'] }).start()
  const stopped = a.stop()
  await passing(time, stopped)
  await expect
    .poll(async () => {
      await time.pass(1_000)
      return c.driver.runs.length
    })
    .toBeGreaterThan(0)
  const named = (await store.read(id, 0, 100)).flatMap(({ event }) =>
    event.type === 'turn.started' ? [[event.prompt, event.principal, event.client]] : [],
  )
  expect(named).toEqual([
    ['go', 'alice', 'page'],
    ['next', 'bob', 'terminal'],
  ])
})
