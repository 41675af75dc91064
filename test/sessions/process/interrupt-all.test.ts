import { expect, test } from 'vitest'
import { house, init, result, said } from '../house.ts'

test('interrupting all stops the open turn and drops what waits, each with one end', async () => {
  const { open, driver, log } = house()
  const session = await open()
  await session.prompt('one')
  await session.prompt('two')
  await session.prompt('three')
  const run = await driver.run()
  run.say(init, said('half'))
  await expect
    .poll(async () => (await log(session)).map(({ event }) => event.type))
    .toContain('text.completed')
  const stopped = session.interruptAll()
  await expect.poll(() => run.input).toContain('"subtype":"interrupt"')
  run.say({ type: 'result', subtype: 'error_during_execution', is_error: true })
  expect(await stopped).toBe(true)
  const ends = (await log(session)).flatMap(({ event }) => (event.type === 'turn.completed' ? [event] : []))
  expect(ends.map(({ turn, outcome }) => [turn, outcome]).sort()).toEqual([
    [1, 'interrupted'],
    [2, 'interrupted'],
    [3, 'interrupted'],
  ])
  await session.prompt('four')
  run.say(init, result('4'))
  expect(await session.settled(4)).toMatchObject({ outcome: 'completed' })
})

test('of two that interrupt all at once, the first has done it, and both wait until it is', async () => {
  const { open, driver, types } = house()
  const session = await open()
  await session.prompt('one')
  const run = await driver.run()
  const both = [session.interruptAll(), session.interruptAll()]
  await expect.poll(() => run.input).toContain('"subtype":"interrupt"')
  run.say(init, { type: 'result', subtype: 'error_during_execution', is_error: true })
  expect(await Promise.all(both)).toEqual([true, false])
  expect((await types(session)).filter((type) => type === 'turn.completed')).toHaveLength(1)
})

test('interrupting all with nothing to stop changes nothing and says so', async () => {
  const { open, types } = house()
  const session = await open()
  expect(await session.interruptAll()).toBe(false)
  expect(await types(session)).toEqual(['session.started'])
})

test('a turn that ended by itself in time was not interrupted', async () => {
  const { open, driver } = house()
  const session = await open()
  await session.prompt('one')
  const run = await driver.run()
  const stopped = session.interruptAll()
  run.say(init, result('done'))
  expect(await stopped).toBe(false)
  expect(await session.settled(1)).toMatchObject({ outcome: 'completed' })
})
