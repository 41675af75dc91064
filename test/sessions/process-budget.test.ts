import { expect, test } from 'vitest'
import { house, init, result, said } from './house.ts'

test('a budget that the agent counts for its process gets a new process for each turn, in the same conversation', async () => {
  const { open, driver } = house()
  const session = await open({ maxBudgetUsd: 1 })
  await session.prompt('one')
  await session.prompt('two')
  const first = await driver.run()
  first.say(init, said('1'), result('1'))
  await session.settled(1)
  await expect.poll(() => first.written).toContainEqual({ kind: 'end' })
  expect(first.input).not.toContain('two')
  first.die({ code: 0 })
  const second = await driver.run(2)
  expect(second.launch).toMatchObject({ argv: expect.arrayContaining(['--resume=native-1']) })
  await expect.poll(() => second.input).toContain('two')
  second.say(init, said('2'), result('2'))
  expect(await session.settled(2)).toMatchObject({ outcome: 'completed' })
})

test('without a budget, turns share a process', async () => {
  const { open, driver } = house()
  const session = await open()
  await session.prompt('one')
  await session.prompt('two')
  const run = await driver.run()
  run.say(init, said('1'), result('1'))
  await expect.poll(() => run.input).toContain('two')
  run.say(init, said('2'), result('2'))
  expect(await session.settled(2)).toMatchObject({ outcome: 'completed' })
})
