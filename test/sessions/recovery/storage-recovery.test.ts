import { expect, test } from 'vitest'
import { claude } from '../../../src/agents/claude/agent.ts'
import { memoryStore } from '../../../src/stores/memory.ts'
import { house, init, result, said } from '../house.ts'
import { fillable } from '../log/fillable-store.ts'

const events = async ({ log }: Pick<ReturnType<typeof house>, 'log'>, session: Parameters<typeof log>[0]) =>
  (await log(session)).map(({ event }) => event)

test('a turn whose log cannot be written ends with `storage_failed` once the log can be written', async () => {
  const { store, disk } = fillable()
  const own = house(store)
  const session = await own.open()
  await session.prompt('one')
  const run = await own.driver.run()
  run.say(init, said('shown'))
  await expect.poll(async () => (await own.types(session)).at(-1)).toBe('text.completed')
  disk.full = true
  run.say(said('never shown', 'msg_2'))
  await expect(session.settled(1)).rejects.toMatchObject({ code: 'storage_failed' })
  expect(run.stops).toBe(1)
  await expect(own.sessions.open(session.id)).rejects.toMatchObject({ code: 'storage_failed' })
  disk.full = false
  await own.time.pass(60_000)
  await expect.poll(async () => (await own.types(session)).at(-1)).toBe('turn.completed')
  expect((await events(own, session)).at(-1)).toMatchObject({
    outcome: 'failed',
    error: { code: 'storage_failed', message: 'the disk is full' },
  })
  expect(JSON.stringify(await own.log(session))).not.toContain('never shown')
  expect(await store.record(session.id)).toMatchObject({ status: 'idle', lastOutcome: 'failed' })
})

test('a session that failed leaves no timer of its turn behind', async () => {
  const { store, disk } = fillable()
  const own = house(store)
  const session = await own.open({ timeoutMs: 3_600_000, idleTimeoutMs: 600_000 })
  await session.prompt('one')
  const run = await own.driver.run()
  run.say(init)
  await expect.poll(() => session.coverage.frames).toBe(1)
  disk.full = true
  run.say(said('never shown'))
  await expect(session.settled(1)).rejects.toMatchObject({ code: 'storage_failed' })
  disk.full = false
  await own.time.pass(60_000)
  await own.sessions.open(session.id)
  expect(own.time.sleepers).toBe(0)
})

test('the session continues in a new process, with the next seq of its log', async () => {
  const { store, disk } = fillable()
  const own = house(store)
  const session = await own.open()
  await session.prompt('one')
  const run = await own.driver.run()
  disk.full = true
  run.say(init, said('lost'))
  await expect(session.settled(1)).rejects.toMatchObject({ code: 'storage_failed' })
  disk.full = false
  const again = await own.sessions.open(session.id)
  expect(again).not.toBe(session)
  expect(await again.prompt('two')).toBe(2)
  const second = await own.driver.run(2)
  second.say(init, result('done'))
  expect(await again.settled(2)).toMatchObject({ outcome: 'completed', result: 'done' })
  const entries = await own.log(session)
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
  const ends = entries.flatMap(({ event }) => (event.type === 'turn.completed' ? [event] : []))
  expect(ends.map(({ turn, outcome }) => [turn, outcome])).toEqual([
    [1, 'failed'],
    [2, 'completed'],
  ])
})

test('a prompt that could not be stored was never accepted, and the session is not stuck', async () => {
  const { store, disk } = fillable()
  const own = house(store)
  const session = await own.open()
  disk.full = true
  await expect(session.prompt('lost')).rejects.toMatchObject({ code: 'storage_failed' })
  expect(own.driver.runs).toEqual([])
  disk.full = false
  const again = await own.sessions.open(session.id)
  expect(await again.prompt('kept')).toBe(1)
  const run = await own.driver.run()
  expect(run.input).toContain('kept')
  expect(await own.types(again)).toEqual(['session.started', 'turn.started'])
})

test('queued prompts were accepted, and run once the disk works again', async () => {
  const { store, disk } = fillable()
  const own = house(store)
  const session = await own.open()
  await session.prompt('one')
  await session.prompt('two')
  const run = await own.driver.run()
  disk.full = true
  run.say(init, said('lost'))
  await expect(session.settled(2)).rejects.toMatchObject({ code: 'storage_failed' })
  disk.full = false
  await own.time.pass(60_000)
  const second = await own.driver.run(2)
  expect(second.input).toContain('two')
  second.say(init, result('2'))
  await expect.poll(async () => (await store.record(session.id))?.lastOutcome).toBe('completed')
})

test('a disk that stays full is asked again and again, and no longer when the server stops', async () => {
  const { store, disk } = fillable()
  const own = house(store)
  const session = await own.open()
  await session.prompt('one')
  disk.full = true
  ;(await own.driver.run()).say(init, said('lost'))
  await expect(session.settled(1)).rejects.toMatchObject({ code: 'storage_failed' })
  const before = disk.refused
  const later = async () => {
    await own.time.pass(60_000)
    return disk.refused
  }
  await expect.poll(later).toBeGreaterThan(before + 5)
  await own.sessions.drain()
  const after = disk.refused
  for (let minute = 0; minute < 5; minute++) expect(await later()).toBe(after)
})

test('a codec that breaks ends its turn in the log too', async () => {
  const { live } = claude.launches
  if (!live) throw new Error('claude has a live launch')
  const decode: typeof live.codec.decode = (state, frame) => {
    if (frame.text.includes('poison')) throw new TypeError('broken')
    return live.codec.decode(state, frame)
  }
  const fragile = { ...claude, launches: { live: { ...live, codec: { ...live.codec, decode } } } }
  const own = house(memoryStore(), { known: [fragile] })
  const session = await own.open()
  await session.prompt('one')
  const run = await own.driver.run()
  run.say(init, said('fine'))
  await expect.poll(async () => (await own.types(session)).at(-1)).toBe('text.completed')
  run.say(said('poison', 'msg_2'))
  await expect(session.settled(1)).rejects.toMatchObject({ message: 'broken' })
  await expect.poll(async () => (await own.types(session)).at(-1)).toBe('turn.completed')
  expect((await events(own, session)).at(-1)).toMatchObject({ outcome: 'failed', error: { code: 'unknown' } })
})

test('a log that fails while a turn is being stopped fails the interrupt, and nothing else', async () => {
  const { store, disk } = fillable()
  const own = house(store)
  const session = await own.open({}, { launch: 'oneshot' })
  await session.prompt('one')
  const run = await own.driver.run()
  run.say(init, said('shown'))
  await expect.poll(async () => (await own.types(session)).at(-1)).toBe('text.completed')
  const unhandled: unknown[] = []
  const hear = (thrown: unknown) => unhandled.push(thrown)
  process.on('unhandledRejection', hear)
  disk.full = true
  // Its last words cannot be written, and only then it goes.
  run.onStop = () => {
    run.say(said('never shown', 'msg_2'))
    setImmediate(() => run.die({ signal: 'SIGTERM' }))
  }
  await expect(session.interrupt()).rejects.toMatchObject({ code: 'storage_failed' })
  process.off('unhandledRejection', hear)
  expect(unhandled).toEqual([])
})
