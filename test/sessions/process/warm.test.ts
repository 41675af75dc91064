import { expect, test } from 'vitest'
import type { LaunchRecipe } from '../../../src/agents/agent.ts'
import { claude } from '../../../src/agents/claude/agent.ts'
import { MainstemError } from '../../../src/model/index.ts'
import type { Session } from '../../../src/sessions/session.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import type { FakeDriver, FakeRun } from '../fake-driver.ts'
import { house, init, result, said } from '../house.ts'

/** One turn that ends well, in a process that closes when it is asked to. */
async function turn(session: Session, driver: FakeDriver, run: number, number = 1): Promise<FakeRun> {
  await session.prompt('go')
  const process = await driver.run(run)
  process.onStop = () => process.die({ code: 0 })
  process.say(init, said('ok', `m${run}.${number}`), result('ok'))
  await session.settled(number)
  return process
}

const asked = (run: FakeRun) => run.written.some(({ kind }) => kind === 'end')

test('an idle process is closed after a while, and the conversation continues in another', async () => {
  const { open, driver, time } = house()
  const session = await open()
  const first = await turn(session, driver, 1)
  await time.pass(59_000)
  expect(asked(first)).toBe(false)
  await time.pass(1_000)
  expect(asked(first)).toBe(true)
  first.die({ code: 0 })
  const second = await turn(session, driver, 2, 2)
  expect(second.launch).toMatchObject({ argv: expect.arrayContaining(['--resume=native-1']) })
})

test('work restarts the idle time', async () => {
  const { open, driver, time } = house()
  const session = await open()
  const run = await turn(session, driver, 1, 1)
  await time.pass(40_000)
  await turn(session, driver, 1, 2)
  await time.pass(40_000)
  expect(asked(run)).toBe(false)
})

test('a prompt that arrives while a process is closed waits for the next one', async () => {
  const { open, driver } = house()
  const session = await open()
  const first = await turn(session, driver, 1)
  const resting = session.place.closeIdle()
  const prompted = session.prompt('again')
  await expect.poll(() => asked(first)).toBe(true)
  first.die({ code: 0 })
  await resting
  expect(await prompted).toBe(2)
  const second = await driver.run(2)
  second.say(init, result('2'))
  expect(await session.settled(2)).toMatchObject({ outcome: 'completed' })
})

test('the process that was idle longest makes room for a new one', async () => {
  const { open, driver } = house(memoryStore(), { maxProcesses: 2 })
  const [a, b, c] = [await open(), await open(), await open()]
  const first = await turn(a, driver, 1)
  const second = await turn(b, driver, 2)
  await turn(a, driver, 1, 2)
  const third = c.prompt('go')
  await expect.poll(() => asked(second)).toBe(true)
  second.die({ code: 0 })
  await third
  expect(asked(first)).toBe(false)
})

test('when all are busy a prompt is refused and nothing has begun', async () => {
  const { open, driver, types } = house(memoryStore(), { maxProcesses: 1 })
  const [a, b] = [await open(), await open()]
  await a.prompt('go')
  await expect(b.prompt('go')).rejects.toMatchObject({ code: 'overloaded' })
  expect(await types(b)).toEqual(['session.started'])
  const run = await driver.run()
  run.say(init, result('1'))
  await a.settled(1)
  run.onStop = () => run.die({ code: 0 })
  void expect
    .poll(() => asked(run))
    .toBe(true)
    .then(() => run.die({ code: 0 }))
  expect(await b.prompt('go')).toBe(1)
})

test('a process can be started before there is a prompt for it', async () => {
  const { open, driver, types } = house()
  const session = await open()
  await session.place.warm()
  const run = await driver.run()
  expect(run.input).toContain('"subtype":"initialize"')
  expect(await types(session)).toEqual(['session.started'])
  await turn(session, driver, 1)
  expect(driver.runs).toHaveLength(1)
})

test('a failed resume is reported once, and the next turn starts a new conversation', async () => {
  const { open, driver } = house()
  const session = await open({}, { launch: 'oneshot', resume: 'gone' })
  await session.prompt('one')
  const first = await driver.run(1)
  expect(first.launch).toMatchObject({ argv: expect.arrayContaining(['--resume=gone']) })
  const errors = ['No conversation found with session ID: gone']
  first.say({ type: 'result', subtype: 'error_during_execution', is_error: true, errors })
  first.die({ code: 1 })
  expect(await session.settled(1)).toMatchObject({ outcome: 'failed', error: { code: 'session_not_found' } })
  await session.prompt('two')
  expect(JSON.stringify((await driver.run(2)).launch)).not.toContain('--resume')
})

test('a launch that is refused later ends the turn that needed it', async () => {
  const oneshot = claude.launches.oneshot
  if (!oneshot) throw new Error('claude has a one-shot launch')
  const once: LaunchRecipe = {
    ...oneshot,
    launch(start) {
      if (start.epoch > 1) throw new MainstemError('unsupported_option', 'not like this')
      return oneshot.launch(start)
    },
  }
  const fickle = { ...claude, launches: { oneshot: once } }
  const { open, driver } = house(memoryStore(), { known: [fickle] })
  const session = await open()
  await session.prompt('one')
  const run = await driver.run()
  run.say(init, result('ok'))
  run.die({ code: 0 })
  await session.settled(1)
  await session.prompt('two')
  expect(await session.settled(2)).toMatchObject({ outcome: 'failed', error: { code: 'unsupported_option' } })
  expect(driver.runs).toHaveLength(1)
})
