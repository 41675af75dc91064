import { expect, test, vi } from 'vitest'
import { Backpressure } from '../../src/ues/backpressure.ts'

test('backpressure pauses the agent until the consumer has caught up', async () => {
  const backpressure = new Backpressure()
  let head = 0
  backpressure.measure(async () => head)
  head = 1_000
  await backpressure.ready()
  head = 10_000
  const passed = vi.fn()
  const waiting = backpressure.ready().then(passed)
  backpressure.acknowledge(5_000)
  await new Promise((resolve) => setImmediate(resolve))
  expect(passed).not.toHaveBeenCalled()
  backpressure.acknowledge(9_000)
  await waiting
  expect(passed).toHaveBeenCalledOnce()
})

test('release ends the pause', async () => {
  const backpressure = new Backpressure()
  backpressure.measure(async () => 10_000)
  const waiting = backpressure.ready()
  backpressure.release()
  await waiting
  await backpressure.ready()
})
