import { expect, test } from 'vitest'
import { house, init, result, said } from '../house.ts'

test('a prompt joins the open turn, and is refused without one', async () => {
  const { open, driver } = house()
  const session = await open()
  await expect(session.steer('early')).rejects.toMatchObject({ code: 'conflict' })
  await session.prompt('go')
  const run = await driver.run()
  run.say(init)
  await expect.poll(() => session.coverage.frames).toBe(1)
  await session.steer('to the left')
  await expect.poll(() => run.input).toContain('to the left')
  run.say(result('done'))
  await session.settled(1)
  await expect(session.steer('late')).rejects.toMatchObject({ code: 'conflict' })
})

test('a launch without steering refuses it', async () => {
  const { open } = house()
  const session = await open({}, { launch: 'oneshot' })
  await session.prompt('go')
  await expect(session.steer('left')).rejects.toMatchObject({ code: 'unsupported_option' })
})

test('a steering prompt that the agent read names its sender, and equal ones in their order', async () => {
  const { open, driver, log } = house()
  const session = await open()
  await session.prompt('go', [], { actor: { principal: 'alice', client: 'page' } })
  const run = await driver.run()
  run.say(init, said('on my way'))
  await session.steer('left', { actor: { principal: 'bob', client: 'terminal' } })
  await session.steer('left', { actor: { principal: 'carol', client: 'api' } })
  await session.steer('right')
  for (const text of run.input.split('\n')) {
    const uuid = /"uuid":"([^"]+)"/.exec(text)?.[1]
    if (uuid !== undefined) run.say({ type: 'command_lifecycle', command_uuid: uuid, state: 'started' })
  }
  run.say(result('done'))
  await session.settled(1)
  const named = (await log(session)).flatMap(({ event }) =>
    event.type === 'turn.steered' ? [[event.prompt, event.principal, event.client]] : [],
  )
  expect(named).toEqual([
    ['left', 'bob', 'terminal'],
    ['left', 'carol', 'api'],
    ['right', undefined, undefined],
  ])
})
