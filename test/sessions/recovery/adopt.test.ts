import { expect, test } from 'vitest'
import { house, init, result } from '../house.ts'

test('a conversation of the agent is taken up by the next process, and by the one after a restart', async () => {
  const { open, driver, store } = house()
  const session = await open()
  await session.prompt('one')
  const first = await driver.run(1)
  first.say(init, result('1'))
  await session.settled(1)
  const adopted = session.adopt('native-7')
  await expect.poll(() => first.written).toContainEqual({ kind: 'end' })
  first.die({ code: 0 })
  await adopted
  expect(await store.record(session.id)).toMatchObject({ nativeSessionId: 'native-7' })
  await session.prompt('two')
  expect((await driver.run(2)).launch).toMatchObject({ argv: expect.arrayContaining(['--resume=native-7']) })
  await expect(session.adopt('native-8')).rejects.toMatchObject({ code: 'conflict' })
  const next = house(store)
  const again = await next.sessions.open(session.id)
  await again.prompt('three')
  expect((await next.driver.run(1)).launch).toMatchObject({
    argv: expect.arrayContaining(['--resume=native-7']),
  })
})

test('an agent that resumes nothing refuses one', async () => {
  const { open } = house()
  const session = await open({}, { agent: 'echo' })
  await expect(session.adopt('native-1')).rejects.toMatchObject({ code: 'unsupported_option' })
})

test('the delivered position of a client is stored without an entry, and never moves back', async () => {
  const { open, store } = house()
  const session = await open()
  await session.prompt('one')
  await session.delivered([{ turn: 1, seq: 2, ended: false }])
  await session.delivered([{ turn: 1, seq: 1, ended: false }])
  expect(await store.record(session.id)).toMatchObject({
    deliveredTurns: [{ first: 1, last: 1, seq: 2 }],
    head: 2,
  })
})
