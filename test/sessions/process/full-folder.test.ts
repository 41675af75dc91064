import { expect, test } from 'vitest'
import { memoryStore } from '../../../src/stores/memory.ts'
import { house } from '../house.ts'
import { LeftRunDriver } from '../recovery/left-run-driver.ts'

test('a prompt that the full folder of its process refuses leaves no turn behind, and is sent once when it is repeated', async () => {
  const driver = new LeftRunDriver()
  const { open, sessions, log } = house(memoryStore(), { driver })
  const session = await open({}, { launch: 'oneshot', options: { env: { TOKEN: 'hidden' } } })
  driver.keep = () => {
    throw new Error('ENOSPC: no space left on device')
  }
  await expect(session.prompt('one')).rejects.toMatchObject({ code: 'storage_failed' })
  driver.keep = LeftRunDriver.prototype.keep
  const again = await sessions.open(session.id)
  expect(await again.prompt('one')).toBe(1)
  const run = await driver.run()
  expect((await log(session)).map(({ event }) => event.type)).toEqual(['session.started', 'turn.started'])
  run.die({ code: 0 })
})
