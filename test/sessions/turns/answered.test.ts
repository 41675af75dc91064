import { expect, test } from 'vitest'
import { house, init, said } from '../house.ts'

test('a turn without a result has the last message of the main thread as its result', async () => {
  const { open, driver, log } = house()
  const session = await open()
  await session.prompt('one')
  const first = await driver.run(1)
  const below = { ...said('by another', 'msg_2'), parent_tool_use_id: 'task-1' }
  first.say(init, said('half of it'), below)
  first.die({ signal: 'SIGKILL' })
  expect(await session.settled(1)).toMatchObject({ outcome: 'crashed', result: 'half of it' })
  const [ended] = (await log(session)).flatMap(({ event }) =>
    event.type === 'turn.completed' ? [event] : [],
  )
  expect(ended).not.toHaveProperty('result')
  await session.prompt('two')
  const second = await driver.run(2)
  second.say(init)
  second.die({ signal: 'SIGKILL' })
  expect(await session.settled(2)).not.toHaveProperty('result')
})
