import { expect, test } from 'vitest'
import { Alarms } from '../../../src/sessions/process/alarms.ts'
import { FakeTime } from '../fake-driver.ts'

function alarms() {
  const time = new FakeTime()
  const clock = { now: () => time.now, monotonic: () => time.now }
  return { time, alarms: new Alarms({ timers: time, clock }), rung: [] as unknown[] }
}

test('a timer rings once, and later if it is armed again before', async () => {
  const { time, alarms: table, rung } = alarms()
  table.arm('idle', 60_000, () => rung.push('early'))
  await time.pass(40_000)
  table.arm('idle', 60_000, (slept) => rung.push(slept))
  await time.pass(59_999)
  expect(rung).toEqual([])
  await time.pass(1)
  await time.pass(120_000)
  expect(rung).toEqual([{ ms: 60_000, wasSuspended: false }])
  expect(time.sleepers).toBe(0)
})

test('a disarmed timer does not ring, and the others do', async () => {
  const { time, alarms: table, rung } = alarms()
  for (const name of ['turn', 'silence', 'stage'] as const) table.arm(name, 1_000, () => rung.push(name))
  table.disarm('turn', 'silence', 'report')
  expect(time.sleepers).toBe(1)
  await time.pass(1_000)
  expect(rung).toEqual(['stage'])
})

test('a timer that rings can arm itself again', async () => {
  const { time, alarms: table, rung } = alarms()
  const again = () => table.arm('report', 1_000, () => rung.push(time.now) < 3 && again())
  again()
  await time.pass(10_000)
  expect(rung).toEqual([1_000, 2_000, 3_000])
})

test('a timer that rings much too late reports that the process was suspended', async () => {
  const { time, alarms: table, rung } = alarms()
  table.arm('silence', 1_000, ({ wasSuspended }) => rung.push(wasSuspended))
  await time.jump(5_999)
  table.arm('silence', 1_000, ({ wasSuspended }) => rung.push(wasSuspended))
  await time.jump(6_000)
  expect(rung).toEqual([false, true])
})
