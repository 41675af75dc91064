import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { TurnCompleted } from '../../../src/model/events/turn.ts'
import { MainstemError } from '../../../src/model/index.ts'
import { TurnWaiters } from '../../../src/sessions/turns/turn-waiters.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { sessionId, state } from '../../stores/sqlite-parts.ts'
import { house, init, result, said } from '../house.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const ID = sessionId(1)
const ended = (turn: number): TurnCompleted => ({
  type: 'turn.completed',
  turn,
  outcome: 'completed',
  durationMs: 1,
  denials: 0,
})

test('a result is not kept once its turn is settled', async () => {
  const waiters = new TurnWaiters(memoryStore(), state(ID))
  const kept = (() => {
    const completed = ended(1)
    waiters.settle(completed)
    return new WeakRef(completed)
  })()
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  expect(kept.deref()).toBeUndefined()
})

test('the end of a turn settles callers without a result, early and late', async () => {
  const waiters = new TurnWaiters(memoryStore(), { ...state(ID), turns: 1, openTurn: 1 })
  let isOver = false
  const over = waiters.ended(1).then(() => {
    isOver = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isOver).toBe(false)
  waiters.settle(ended(1))
  await over
  // The store has no such log: a read of the result would fail.
  await waiters.ended(1)
})

test('a late caller gets the same result from the log as one that waited', async () => {
  const here = house(memoryStore())
  const session = await here.open()
  const turn = await session.prompt('one')
  const early = session.settled(turn)
  const run = await here.driver.run()
  run.say(init, said('the answer'), result('success'))
  const completed = await early
  expect(await session.settled(turn)).toEqual(completed)
  // Also in another process, and from behind a longer turn.
  const flood = await session.prompt('two')
  run.say(...Array.from({ length: 700 }, (_, index) => said(`m${index}`)), result('success'))
  await session.settled(flood)
  expect(await session.settled(turn)).toEqual(completed)
})

test('turns are known to be settled in any order, and after a restart', async () => {
  const store = memoryStore()
  const events = [2, 3, 5].map((turn, index) => ({
    seq: index + 1,
    session: ID,
    turn,
    at: 0,
    event: { ...ended(turn), result: `r${turn}` },
  }))
  await store.create(ID, { entries: events, record: state(ID, { turns: 5 }) })
  const queue = [1, 4].map((turn) => ({ turn, prompt: 'p' }))
  const waiters = new TurnWaiters(store, state(ID, { turns: 5, queue }))
  expect((await waiters.wait(3)).result).toBe('r3')
  const waiting = [waiters.wait(1), waiters.wait(4)]
  for (const turn of [4, 1]) waiters.settle({ ...ended(turn), result: `r${turn}` })
  expect((await Promise.all(waiting)).map((one) => one.result)).toEqual(['r1', 'r4'])
  waiters.fail(new MainstemError('draining', 'the server is stopping'))
  expect((await waiters.wait(5)).result).toBe('r5')
  await expect(waiters.wait(6)).rejects.toMatchObject({ code: 'draining' })
  await expect(waiters.wait(1)).rejects.toMatchObject({ code: 'not_found' })
})
