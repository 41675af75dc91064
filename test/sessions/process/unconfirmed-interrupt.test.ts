import { expect, test } from 'vitest'
import { house, init, result, said } from '../house.ts'

const GRACE_MS = 2_000

const acknowledged = (input: string) => {
  const id = /"request_id":"(c\d+)","request":\{"subtype":"interrupt"/.exec(input)?.[1]
  return { type: 'control_response', response: { subtype: 'success', request_id: id, response: {} } }
}

/** A session whose first turn was finished by the agent just as it was interrupted; a second prompt waits. */
async function crossed() {
  const made = house()
  const session = await made.open()
  await session.prompt('one')
  const run = await made.driver.run(1)
  run.say(init, said('one'))
  const interrupted = session.interrupt()
  await expect.poll(() => run.input).toContain('"subtype":"interrupt"')
  run.say(result('one'))
  await interrupted
  await session.prompt('two')
  return { ...made, session, run }
}

test('a turn does not begin on a process that never confirms an interrupt', async () => {
  const { session, run, driver, time, log } = await crossed()
  expect(run.input).not.toContain('two')
  await time.pass(GRACE_MS)
  const second = await driver.run(2)
  expect(run.stops).toBe(1)
  expect(second.launch).toMatchObject({ argv: expect.arrayContaining(['--resume=native-1']) })
  second.say(init, said('two', 'msg_2'), result('two'))
  expect(await session.settled(2)).toMatchObject({ outcome: 'completed', result: 'two' })
  expect((await log(session)).map(({ event }) => event)).toContainEqual(
    expect.objectContaining({ type: 'notice.raised', code: 'interrupt_unconfirmed' }),
  )
})

test('a turn begins on the same process once a late confirmation has come', async () => {
  const { session, run, driver, time } = await crossed()
  await time.pass(GRACE_MS - 1)
  run.say(acknowledged(run.input))
  await expect.poll(() => run.input).toContain('two')
  run.say(init, said('two', 'msg_2'), result('two'))
  expect(await session.settled(2)).toMatchObject({ outcome: 'completed', result: 'two' })
  expect(driver.runs).toHaveLength(1)
  await time.pass(GRACE_MS)
  expect(run.stops).toBe(0)
})

test('a confirmation that comes before the result leaves nothing to wait for', async () => {
  const { open, driver } = house()
  const session = await open()
  await session.prompt('one')
  const run = await driver.run()
  run.say(init, said('one'))
  const interrupted = session.interrupt()
  await expect.poll(() => run.input).toContain('"subtype":"interrupt"')
  run.say(acknowledged(run.input), result('one'))
  await interrupted
  await session.prompt('two')
  await expect.poll(() => run.input).toContain('two')
})

test('a session that ends does not wait for a confirmation', async () => {
  const { session, run } = await crossed()
  run.onStop = () => run.die({ code: 0 })
  const ended = session.end()
  await expect.poll(() => run.written.at(-1)?.kind).toBe('end')
  run.die({ code: 0 })
  await ended
})
