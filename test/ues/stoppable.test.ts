import { expect, test, vi } from 'vitest'
import { Pace } from '../../src/ues/pace.ts'
import { stoppable } from '../../src/ues/stoppable.ts'

test('a generator is stopped while somebody waits for its next value', async () => {
  const cleaned = vi.fn()
  const values = stoppable(async function* (stop) {
    try {
      yield 1
      await new Promise((resolve) => stop.addEventListener('abort', resolve))
    } finally {
      cleaned()
    }
  })
  expect(await values.next()).toEqual({ done: false, value: 1 })
  const waiting = values.next()
  expect(await values.return()).toEqual({ done: true, value: undefined })
  expect(await waiting).toEqual({ done: true, value: undefined })
  expect(cleaned).toHaveBeenCalledOnce()
})

test('an exception is thrown into a generator while somebody waits for its next value', async () => {
  const values = stoppable<number>(async function* (stop) {
    await new Promise((resolve) => stop.addEventListener('abort', resolve))
  })
  const waiting = values.next()
  await expect(values.throw(new Error('mine'))).rejects.toThrow('mine')
  expect(await waiting).toEqual({ done: true, value: undefined })
})

test('a generator that was never begun is stopped without beginning', async () => {
  const begun = vi.fn()
  const values = stoppable(async function* () {
    begun()
    yield 1
  })
  await values[Symbol.asyncDispose]()
  expect(await Array.fromAsync(values)).toEqual([])
  expect(begun).not.toHaveBeenCalled()
})

test('there is room until the reader is too far behind, and again when it has caught up', async () => {
  const pace = new Pace()
  let head = 0
  pace.measure(async () => head)
  head = 1_000
  await pace.room()
  head = 10_000
  const passed = vi.fn()
  const waiting = pace.room().then(passed)
  pace.reached(5_000)
  await new Promise((resolve) => setImmediate(resolve))
  expect(passed).not.toHaveBeenCalled()
  pace.reached(9_000)
  await waiting
  expect(passed).toHaveBeenCalledOnce()
})

test('nobody waits for a reader that is not going to come', async () => {
  const pace = new Pace()
  pace.measure(async () => 10_000)
  const waiting = pace.room()
  pace.free()
  await waiting
  await pace.room()
})
