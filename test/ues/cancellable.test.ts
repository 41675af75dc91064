import { expect, test, vi } from 'vitest'
import { cancellable } from '../../src/ues/cancellable.ts'

test('return stops a generator while a call of next is pending', async () => {
  const cleaned = vi.fn()
  const values = cancellable(async function* (stop) {
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

test('throw stops a generator while a call of next is pending', async () => {
  const values = cancellable<number>(async function* (stop) {
    await new Promise((resolve) => stop.addEventListener('abort', resolve))
  })
  const waiting = values.next()
  await expect(values.throw(new Error('mine'))).rejects.toThrow('mine')
  expect(await waiting).toEqual({ done: true, value: undefined })
})

test('return before the first next does not start the generator', async () => {
  const begun = vi.fn()
  const values = cancellable(async function* () {
    begun()
    yield 1
  })
  await values[Symbol.asyncDispose]()
  expect(await Array.fromAsync(values)).toEqual([])
  expect(begun).not.toHaveBeenCalled()
})
