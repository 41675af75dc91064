import { expect, test } from 'vitest'
import { house, init, result, said } from './house.ts'

test('a rewind names the prompt of the turn, also after a restart', async () => {
  const { open, driver, store } = house()
  const session = await open()
  await session.prompt('one')
  const run = await driver.run()
  run.say(init, said('1'), result('1'))
  await session.settled(1)
  const [started] = (await store.read(session.id, 0, 100)).flatMap(({ event }) =>
    event.type === 'turn.started' ? [event.promptId] : [],
  )
  expect(started).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)

  const after = house(store)
  await after.sessions.recover()
  const restored = await after.sessions.open(session.id)
  await restored.prompt('/rewind 1')
  const next = await after.driver.run()
  await expect.poll(() => next.input).toContain('rewind_files')
  expect(next.input).toContain(started)
})

test('a rewind that names no turn is refused before it is queued', async () => {
  const session = await house().open()
  await expect(session.prompt('/rewind last')).rejects.toMatchObject({ code: 'invalid_request' })
})

test.each([
  ['codex', '/rewind 1', 'rewind is not supported by a live codex: it has no checkpoints of files'],
  ['gemini', '/goal x', 'goal is not supported by a live gemini: it has no goals'],
])('%s refuses %s with the reason', async (agent, prompt, message) => {
  const session = await house().open({}, { agent })
  await expect(session.prompt(prompt)).rejects.toMatchObject({ code: 'unsupported_option', message })
})
