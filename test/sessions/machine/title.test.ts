import { expect, test } from 'vitest'
import { recordEvent } from '../../../src/sessions/machine/record.ts'
import { state as newState } from '../../stores/sqlite-parts.ts'
import { house, init, result, said } from '../house.ts'

const titleOf = async ({ sessions }: ReturnType<typeof house>, id: string) =>
  (await sessions.record(id))?.title

test('a session is called after its first prompt, on one line', async () => {
  const own = house()
  const session = await own.open()
  expect(await titleOf(own, session.id)).toBeUndefined()
  await session.prompt('  Fix the\n\n cart  ')
  expect(await titleOf(own, session.id)).toBe('Fix the cart')
  const run = await own.driver.run()
  await session.prompt('and the tests')
  run.say(init, said('done'), result('done'))
  await session.settled(1)
  expect(await titleOf(own, session.id)).toBe('Fix the cart')
})

test('a title of the agent replaces the prompt', () => {
  const state = newState('s')
  recordEvent(state, { type: 'turn.started', turn: 1, origin: 'prompt', prompt: 'go' }, 0)
  expect(state.title).toBe('go')
  recordEvent(state, { type: 'session.updated', title: 'Carts' }, 0)
  recordEvent(state, { type: 'turn.started', turn: 2, origin: 'prompt', prompt: 'more' }, 0)
  expect(state.title).toBe('Carts')
})

test.each([
  ['x'.repeat(500), 'x'.repeat(120)],
  [`${'x'.repeat(119)}😀`, 'x'.repeat(119)],
  [' \n\t ', undefined],
])('a prompt such as %j makes the title %j', async (prompt, title) => {
  const own = house()
  const session = await own.open()
  await session.prompt(prompt)
  expect(await titleOf(own, session.id)).toBe(title)
})
