import { expect, test } from 'vitest'
import { memoryStore } from '../../../src/stores/memory.ts'
import { asks, house, init } from '../house.ts'
import { bound } from './bound-answer.ts'

test('a decision is in the log before the agent hears of it', async () => {
  const store = memoryStore()
  const { open, driver, log } = house(store)
  const session = await open()
  await session.prompt('one')
  const run = await driver.run()
  run.say(init, asks('a'))
  await expect.poll(() => session.coverage.frames).toBe(2)
  const denial = await bound(store, session.id, {
    type: 'answer',
    requestId: 'e1.a',
    decision: 'deny',
    message: 'no',
  })
  const before = run.written.length
  const gate = Promise.withResolvers<void>()
  const append = store.append.bind(store)
  store.append = async (...args) => {
    await gate.promise
    return append(...args)
  }
  const answered = session.answer(denial)
  await new Promise((resolve) => setImmediate(resolve))
  expect(run.written).toHaveLength(before)
  gate.resolve()
  await answered
  expect(run.written.slice(before)).toHaveLength(1)
  expect((await log(session)).at(-1)?.event).toMatchObject({
    type: 'request.resolved',
    decision: 'deny',
    by: 'person',
  })
})

test('the first decision wins, and an answer that is none leaves the request open', async () => {
  const { open, driver, store } = house()
  const session = await open()
  await session.prompt('one')
  const run = await driver.run()
  run.say(init, asks('q', 'AskUserQuestion'))
  await expect.poll(() => session.coverage.frames).toBe(2)
  const empty = session.answer(
    await bound(store, session.id, { type: 'answer', requestId: 'e1.q', decision: 'answered', answers: {} }),
  )
  await expect(empty).rejects.toMatchObject({ code: 'invalid_request' })
  await session.answer(
    await bound(store, session.id, {
      type: 'answer',
      requestId: 'e1.q',
      decision: 'answered',
      answers: { 'rm x': ['A'] },
    }),
  )
  const again = session.answer(
    await bound(store, session.id, { type: 'answer', requestId: 'e1.q', decision: 'deny' }),
  )
  await expect(again).rejects.toMatchObject({ code: 'request_not_found' })
})
