import { expect, test } from 'vitest'
import { house, init, result } from '../house.ts'

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
