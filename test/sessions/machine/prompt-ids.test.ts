import { expect, test } from 'vitest'
import { house, init, result } from '../house.ts'

test('every prompt of a live process is sent and logged with its own id', async () => {
  const { open, driver, log } = house()
  const session = await open()
  await session.prompt('one')
  const run = await driver.run()
  run.say(init, result('1'))
  await session.settled(1)
  await session.prompt('two')
  await expect.poll(() => run.input).toContain('two')
  const prompts = run.input.split('\n').flatMap((line): unknown => {
    const message: unknown = line === '' ? undefined : JSON.parse(line)
    return typeof message === 'object' && message !== null && 'uuid' in message ? message.uuid : []
  })
  expect(prompts).toHaveLength(2)
  expect(new Set(prompts).size).toBe(2)
  const logged = (await log(session)).flatMap(({ event }) =>
    event.type === 'turn.started' ? [event.promptId] : [],
  )
  expect(logged).toEqual(prompts)
})
