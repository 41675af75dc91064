import { expect, test } from 'vitest'
import { memoryStore } from '../../../src/stores/memory.ts'
import { violations } from '../../agents/invariants.ts'
import { FakeTime } from '../fake-driver.ts'
import { init, result, said } from '../house.ts'
import { drained, HOUR, promptsIn, server } from './server.ts'

test('a lost turn is continued by the next server, in the same native conversation', async () => {
  const store = memoryStore()
  const time = new FakeTime()
  const before = server(store, time)
  const { session, run } = await before.begin({ onLost: 'continue' })
  run.say(init, said('half'))
  await expect.poll(() => session.coverage.frames).toBe(2)
  const after = server(store, time)
  expect(await after.sessions.recover()).toBe(1)
  await after.sessions.resumeQueues()
  await time.pass(0)
  const next = await after.driver.run()
  next.say(init, said('done', 'msg_2'), result('done'))
  const reopened = await after.sessions.open(session.id)
  expect(await reopened.settled(2)).toMatchObject({ outcome: 'completed' })
  const entries = await store.read(session.id, 0, 100)
  expect(promptsIn(entries)).toEqual(['one', expect.stringContaining('cut off')])
  expect(violations(entries)).toEqual([])
  expect(JSON.stringify(next.launch)).toContain('native-1')
})

test('a server that stops leaves its open turn to be continued by the next', async () => {
  const store = memoryStore()
  const time = new FakeTime()
  const before = server(store, time)
  const { session, run } = await before.begin({ onLost: 'continue' })
  run.say(init, said('half'))
  await expect.poll(() => session.coverage.frames).toBe(2)
  await drained(before)
  expect(before.driver.runs).toHaveLength(1)
  const after = server(store, time)
  await after.sessions.recover()
  await after.sessions.resumeQueues()
  await time.pass(0)
  await after.driver.run()
  expect(promptsIn(await store.read(session.id, 0, 100))).toHaveLength(2)
})

test('an agent that crashes again and again is not restarted without end', async () => {
  const { begin, time, log, driver, nextRun } = server()
  const { session, run } = await begin({ onLost: 'continue' })
  run.say(init, said('half'))
  run.die({ signal: 'SIGKILL' })
  for (const number of [2, 3, 4]) {
    await session.settled(number - 1)
    const next = await nextRun(number)
    next.die({ signal: 'SIGKILL' })
  }
  await session.settled(4)
  await time.pass(24 * HOUR)
  expect(driver.runs).toHaveLength(4)
  expect((await log(session)).map(({ event }) => event)).toContainEqual(
    expect.objectContaining({ code: 'not_continued' }),
  )
})

test('a turn that was lost with its server is continued for the person who sent it', async () => {
  const { open, driver, time, store, log } = server()
  const session = await open({}, { options: { onLost: 'continue' } })
  await session.prompt('one', [], { actor: { principal: 'alice', client: 'page' } })
  await (await driver.run()).say(init)
  await expect.poll(() => session.coverage.frames).toBe(1)
  const next = server(store, time)
  await next.sessions.recover()
  const queued = (await log(session)).flatMap(({ event }) =>
    event.type === 'turn.queued' ? [[event.turn, event.principal, event.client]] : [],
  )
  expect(queued).toEqual([[2, 'alice', 'page']])
})

const UNKNOWN = {
  type: 'result',
  subtype: 'error_during_execution',
  is_error: true,
  errors: ['No conversation found with session ID: native-1'],
}

test('an agent that lost its conversation with its turn is told what the log has', async () => {
  const store = memoryStore()
  const time = new FakeTime()
  const before = server(store, time)
  const { session, run } = await before.begin({ onLost: 'continue' }, 'Count the birds')
  run.say(init, said('There are seven.'))
  await expect.poll(() => session.coverage.frames).toBe(2)
  const after = server(store, time)
  await after.sessions.recover()
  await after.sessions.resumeQueues()
  await time.pass(0)
  const resuming = await after.driver.run()
  await expect.poll(() => resuming.input).toContain('cut off')
  expect(resuming.input).not.toContain('Recap by Mainstem')
  resuming.say(UNKNOWN)
  resuming.die({ code: 1 })
  const anew = await after.driver.run(2)
  await expect.poll(() => anew.input).toContain('cut off')
  expect(anew.input).toContain(
    '[Recap by Mainstem: you worked on this session, and your conversation was lost.',
  )
  expect(anew.input).toContain('Prompt: Count the birds')
  // A message of a turn that was cut off is in its recap too.
  expect(anew.input).toContain('Last message: There are seven.')
  const prompts = promptsIn(await store.read(session.id, 0, 100))
  expect(prompts).toEqual(['Count the birds', expect.stringMatching(/^Continue\./)])
})
