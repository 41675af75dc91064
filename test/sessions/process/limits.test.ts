import { expect, test } from 'vitest'
import { house, init, result } from '../house.ts'

const step = {
  type: 'stream_event',
  event: { type: 'message_delta', usage: { input_tokens: 1, output_tokens: 1 } },
}

test('a turn that makes more model calls than it may is stopped', async () => {
  const { open, driver, time } = house()
  const session = await open({ maxSteps: 2 })
  await session.prompt('go')
  const run = await driver.run()
  run.say(init, step, step)
  await expect.poll(() => session.coverage.frames).toBe(3)
  expect(run.input).not.toContain('interrupt')
  run.say(step)
  await expect.poll(() => run.input).toContain('"subtype":"interrupt"')
  await time.pass(2_000)
  expect(await session.settled(1)).toMatchObject({ outcome: 'max_steps' })
})

test('each turn counts its own calls', async () => {
  const { open, driver } = house()
  const session = await open({ maxSteps: 2 })
  for (const turn of [1, 2]) {
    await session.prompt('go')
    const run = await driver.run()
    run.say(init, step, step, result('ok'))
    expect(await session.settled(turn)).toMatchObject({ outcome: 'completed' })
  }
})

test('a turn that is dropped from the queue does not take the time limit of the open one along', async () => {
  const { open, driver, time } = house()
  const session = await open({ timeoutMs: 60_000 })
  await session.prompt('go')
  const run = await driver.run()
  run.say(init)
  await expect.poll(() => session.coverage.frames).toBe(1)
  await session.interrupt(await session.prompt('and then'))
  expect(await session.settled(2)).toMatchObject({ outcome: 'interrupted' })
  await time.pass(60_000)
  await expect.poll(() => run.input).toContain('"subtype":"interrupt"')
  await time.pass(2_000)
  expect(await session.settled(1)).toMatchObject({ outcome: 'timeout' })
})
