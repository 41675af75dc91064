import { expect, test } from 'vitest'
import { IdleTimer } from '../../src/sessions/idle-timer.ts'
import { FakeTime } from './fake-driver.ts'

function idle(close: () => Promise<void> = async () => undefined) {
  const time = new FakeTime()
  let closes = 0
  const timer = new IdleTimer(time, 60_000, () => {
    closes++
    return close()
  })
  return { time, timer, closes: () => closes }
}

test('a restart begins the idle time again, and one close follows', async () => {
  const { time, timer, closes } = idle()
  void timer.restart()
  await time.pass(40_000)
  void timer.restart()
  await time.pass(40_000)
  expect(closes()).toBe(0)
  await time.pass(20_000)
  expect(closes()).toBe(1)
  await time.pass(60_000)
  expect(closes()).toBe(1)
})

test('a cancelled timer closes nothing', async () => {
  const { time, timer, closes } = idle()
  void timer.restart()
  timer.cancel()
  await time.pass(120_000)
  expect(closes()).toBe(0)
})

test('concurrent calls share one close, and a later call closes again', async () => {
  const closing = Promise.withResolvers<void>()
  const { timer, closes } = idle(() => closing.promise)
  const both = [timer.closeNow(), timer.closeNow()]
  let isClosed = false
  const closed = timer.closed().then(() => {
    isClosed = true
  })
  await Promise.resolve()
  expect([closes(), isClosed]).toEqual([1, false])
  closing.resolve()
  await Promise.all([...both, closed])
  await timer.closeNow()
  expect(closes()).toBe(2)
})

test('a failed close after the idle time rejects the restart', async () => {
  const { time, timer } = idle(() => Promise.reject(new Error('no close')))
  const restarted = timer.restart()
  const failed = expect(restarted).rejects.toThrow('no close')
  await time.pass(60_000)
  await failed
})
