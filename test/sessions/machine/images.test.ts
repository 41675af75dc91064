import { expect, test, vi } from 'vitest'
import type { FakeRun } from '../fake-driver.ts'
import { house } from '../house.ts'

const ONE = { mimeType: 'image/png', data: 'AAAA' }
const TWO = { mimeType: 'image/gif', data: 'BBBB' }
const POLICY = { approval: 'ask', sandbox: 'read-only' } as const
const CODEX = { agent: 'codex', launch: 'oneshot', policy: POLICY } as const

/** The pictures that a process was started with. */
const shown = ({ launch }: FakeRun) =>
  'files' in launch ? launch.files?.map(({ name, text }) => [name, text]) : undefined

test('a one-shot process starts with the images of its prompt', async () => {
  const { open, driver } = house()
  const session = await open({}, CODEX)
  await session.prompt('see', [ONE, TWO])
  const first = await driver.run()
  expect(shown(first)).toEqual([
    ['picture-1.png', 'AAAA'],
    ['picture-2.gif', 'BBBB'],
  ])
  await expect.poll(() => first.input).toBe('see')
  first.die({ code: 0 })
  await session.settled(1)
  await session.prompt('and now?')
  await expect.poll(() => driver.runs).toHaveLength(2)
  expect(driver.runs.map(shown)[1]).toEqual([])
})

test('a prompt that waits keeps its pictures', async () => {
  const { open, driver } = house()
  const session = await open({}, CODEX)
  await session.prompt('one', [ONE])
  await session.prompt('two', [TWO])
  const first = await driver.run()
  first.die({ code: 0 })
  await expect.poll(() => driver.runs).toHaveLength(2)
  expect(driver.runs.map(shown)).toEqual([[['picture-1.png', 'AAAA']], [['picture-1.gif', 'BBBB']]])
})

test('pictures of prompts that wait are in the store only, until their turn comes', async () => {
  const { open, driver, store } = house()
  const session = await open({}, CODEX)
  await session.prompt('one')
  for (const text of ['two', 'three']) await session.prompt(text, [ONE, TWO])
  expect(await store.record(session.id)).toMatchObject({
    queue: [
      { turn: 2, prompt: 'two', images: 2 },
      { turn: 3, prompt: 'three', images: 2 },
    ],
  })
  const read = vi.spyOn(store, 'queuedPrompt')
  ;(await driver.run()).die({ code: 0 })
  await expect.poll(() => driver.runs).toHaveLength(2)
  expect(read.mock.calls).toEqual([[session.id, 2]])
  // The third is dropped while nobody has loaded it.
  await session.interrupt(3)
  driver.runs[1]?.die({ code: 0 })
  await session.settled(2)
  expect(read).toHaveBeenCalledTimes(1)
  expect(driver.runs.map(shown)[1]).toEqual([
    ['picture-1.png', 'AAAA'],
    ['picture-2.gif', 'BBBB'],
  ])
})

test('a prompt that is dropped while its pictures are loaded does not begin', async () => {
  const { open, driver, store } = house()
  const session = await open({}, CODEX)
  await session.prompt('one')
  await session.prompt('two', [ONE])
  await session.prompt('three')
  const reading = Promise.withResolvers<void>()
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const readQueued = store.queuedPrompt.bind(store)
  vi.spyOn(store, 'queuedPrompt').mockImplementation(async (id, turn) => {
    ask()
    await reading.promise
    return readQueued(id, turn)
  })
  ;(await driver.run()).die({ code: 0 })
  await asked
  await session.interrupt(2)
  reading.resolve()
  await expect.poll(() => driver.runs).toHaveLength(2)
  await expect.poll(() => driver.runs[1]?.input).toBe('three')
})

test('pictures of a session stand before those of its first prompt', async () => {
  const { open, driver } = house()
  const session = await open({}, { ...CODEX, options: { images: [TWO] } })
  await session.prompt('see', [ONE])
  expect(shown(await driver.run())).toEqual([
    ['picture-1.gif', 'BBBB'],
    ['picture-2.png', 'AAAA'],
  ])
})

test.each(['codex', 'gemini', 'opencode', 'claude'])(
  'a file that is not an image does not start %s',
  async (agent) => {
    const { open, driver, types } = house()
    const session = await open({}, { ...CODEX, agent })
    for (const image of [
      { ...ONE, data: 'not base64' },
      { ...ONE, mimeType: 'text/plain' },
    ]) {
      const refusal = { code: 'invalid_request', message: expect.stringMatching(/^images\.1\./) }
      await expect(session.prompt('see', [ONE, image])).rejects.toMatchObject(refusal)
      await expect(open({}, { ...CODEX, agent, options: { images: [image] } })).rejects.toMatchObject({
        code: 'invalid_request',
      })
    }
    expect(await types(session)).toEqual(['session.started'])
    expect(driver.runs).toEqual([])
  },
)

test.each(['codex', 'gemini', 'opencode'])(
  'a picture of a kind that a one-shot %s cannot be shown is refused before its turn begins',
  async (agent) => {
    const { open, driver, types } = house()
    const images = [{ ...ONE, mimeType: 'image/tiff' }]
    const refusal = { code: 'unsupported_option' }
    await expect(open({}, { ...CODEX, agent, options: { images } })).rejects.toMatchObject(refusal)
    const session = await open({}, { ...CODEX, agent })
    await expect(session.prompt('see', images)).rejects.toMatchObject(refusal)
    expect(await types(session)).toEqual(['session.started'])
    expect(driver.runs).toEqual([])
  },
)

test('a first prompt that its pictures cannot go with ends its turn, and starts nothing', async () => {
  const { sessions, driver } = house()
  const session = await sessions.create({
    ...{ agent: 'gemini', launch: 'oneshot', cwd: '/', policy: POLICY },
    options: { images: [ONE] },
  })
  const turn = await session.prompt('/stats')
  expect(await session.settled(turn)).toMatchObject({
    outcome: 'failed',
    error: { code: 'unsupported_option' },
  })
  expect(driver.runs).toEqual([])
})
