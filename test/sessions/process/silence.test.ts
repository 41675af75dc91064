import { describe, expect, test } from 'vitest'
import { FakeTime } from '../fake-driver.ts'
import { asks, house, init, result, said } from '../house.ts'

async function talking(policy: Parameters<ReturnType<typeof house>['open']>[0] = {}) {
  const room = house()
  const session = await room.open(policy)
  await session.prompt('go')
  const run = await room.driver.run()
  run.say(init)
  await expect.poll(() => session.coverage.frames).toBe(1)
  const reported = async () =>
    (await room.log(session)).flatMap(({ event }) =>
      event.type === 'notice.raised' && event.code === 'agent_silent' ? [event.message] : [],
    )
  const silentSince = async () => (await room.store.record(session.id))?.silentSince
  return { ...room, session, run, reported, silentSince }
}

describe('a turn without output', () => {
  test('is reported after a minute, then after twice the time each, and ends nothing', async () => {
    const { time, session, run, reported } = await talking()
    await time.pass(59_999)
    expect(await reported()).toEqual([])
    await time.pass(1)
    expect(await reported()).toEqual(['no output from claude for 60 s'])
    await time.pass(8 * 60_000)
    expect(await reported()).toEqual([60, 120, 240, 480].map((s) => `no output from claude for ${s} s`))
    run.say(result('done'))
    expect(await session.settled(1)).toMatchObject({ outcome: 'completed' })
  })

  test('is in the record of the session until the next output', async () => {
    const { time, session, run, silentSince } = await talking()
    const since = time.now
    await time.pass(30_000)
    expect(await silentSince()).toBeUndefined()
    await time.pass(90_000)
    expect(await silentSince()).toBe(since)
    await session.prompt('next')
    expect(await silentSince()).toBe(since)
    run.say(said('here'))
    await expect.poll(silentSince).toBeUndefined()
  })

  test('counts again from the last output', async () => {
    const { time, run, session, reported } = await talking()
    await time.pass(240_000)
    expect(await reported()).toHaveLength(3)
    run.say(said('here'))
    await expect.poll(() => session.coverage.frames).toBe(2)
    await time.pass(59_999)
    expect(await reported()).toHaveLength(3)
    await time.pass(1)
    expect((await reported()).at(3)).toBe('no output from claude for 60 s')
  })

  test('is silent although it sends heartbeats that carry nothing', async () => {
    const { time, run, session, reported } = await talking()
    await time.pass(50_000)
    run.say({ type: 'keep_alive' })
    await expect.poll(() => session.coverage.frames).toBe(2)
    await time.pass(10_000)
    expect(await reported()).toHaveLength(1)
  })

  test('is not silent while it waits for a person', async () => {
    const { time, run, session, reported } = await talking()
    run.say(asks('r1'))
    await expect.poll(() => session.coverage.frames).toBe(2)
    await time.pass(600_000)
    expect(await reported()).toEqual([])
  })

  test('is not reported any more when the turn has ended', async () => {
    const { time, run, session, reported } = await talking()
    run.say(result('done'))
    await session.settled(1)
    await time.pass(50_000)
    expect(await reported()).toEqual([])
  })
})

describe('a turn that passes a limit names it', () => {
  test.each([
    [{ idleTimeoutMs: 30_000 }, 'no output for 30 s (idleTimeoutMs)'],
    [{ timeoutMs: 90_000 }, 'the turn took longer than 90 s (timeoutMs)'],
  ])('%o', async (policy, message) => {
    const { time, session } = await talking(policy)
    await time.pass(100_000)
    expect(await session.settled(1)).toMatchObject({
      outcome: 'timeout',
      error: { code: 'timeout', message },
    })
  })
})

/** Time in which every sleep is over at once, and no clock moves. */
class NoTime extends FakeTime {
  sleeps = 0

  override async sleep(): Promise<void> {
    this.sleeps++
  }
}

test('timers that outrun the clock do not keep the process busy', async () => {
  const time = new NoTime()
  const { open, driver } = house(undefined, { time })
  const session = await open()
  await session.prompt('go')
  await driver.run()
  const tick = () => new Promise((resolve) => setImmediate(resolve))
  await tick()
  const { sleeps } = time
  expect(sleeps).toBeLessThan(10)
  for (let ticks = 0; ticks < 10; ticks++) await tick()
  expect(time.sleeps).toBe(sleeps)
})
