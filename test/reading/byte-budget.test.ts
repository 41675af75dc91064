import { expect, test } from 'vitest'
import { ByteBudget, type Share } from '../../src/reading/byte-budget.ts'

const never = new AbortController().signal

function budget(limit: number) {
  const sleeping: (() => void)[] = []
  const timers = { sleep: () => new Promise<void>((resolve) => sleeping.push(resolve)) }
  return {
    bytes: new ByteBudget(limit, timers),
    wake: () => sleeping.splice(0).forEach((wake) => void wake()),
  }
}

/** Whether a promise is settled, after everything that is ready has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.then(() => {
    settled = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  return settled
}

test('shares are admitted in order as others are released', async () => {
  const { bytes } = budget(10)
  const first = await bytes.take(6, never)
  const large = bytes.take(5, never)
  const small = bytes.take(1, never)
  expect([await isSettled(large), await isSettled(small)]).toEqual([false, false])
  first?.release()
  first?.release()
  expect([await isSettled(large), await isSettled(small)]).toEqual([true, true])
  expect(bytes.held).toBe(6)
})

test('a share larger than the limit is admitted alone', async () => {
  const { bytes } = budget(10)
  const first = await bytes.take(1, never)
  const huge = bytes.take(100, never)
  const next = bytes.take(1, never)
  first?.release()
  expect([await isSettled(huge), await isSettled(next)]).toEqual([true, false])
  ;(await huge)?.release()
  expect(await isSettled(next)).toBe(true)
})

test('a caller that leaves the queue admits the next one', async () => {
  const { bytes } = budget(10)
  const first = await bytes.take(8, never)
  const leave = new AbortController()
  const left: Promise<Share | undefined> = bytes.take(9, leave.signal)
  const next = bytes.take(2, never)
  leave.abort()
  expect(await left).toBeUndefined()
  expect(await isSettled(next)).toBe(true)
  expect(await bytes.take(1, leave.signal)).toBeUndefined()
  first?.release()
})

test('a taker that waited too long is refused with a time to retry', async () => {
  const { bytes, wake } = budget(10)
  const first = await bytes.take(10, never)
  const late = bytes.take(1, never, { waitMs: 1_000 })
  wake()
  await expect(late).rejects.toMatchObject({ code: 'overloaded', details: { retryAfter: 5 } })
  first?.release()
  expect(bytes.held).toBe(0)
  expect(await bytes.take(1, never, { waitMs: 1_000 })).toBeDefined()
})

test('a holder gets three quarters at most, and what it waits for does not delay others', async () => {
  const { bytes } = budget(16)
  const shares = []
  for (let count = 0; count < 12; count++) shares.push(await bytes.take(1, never, { holder: 'a' }))
  const next = bytes.take(1, never, { holder: 'a' })
  expect(await isSettled(next)).toBe(false)
  const other = await bytes.take(1, never, { holder: 'b' })
  expect(other).toBeDefined()
  shares[0]?.release()
  expect(await isSettled(next)).toBe(false)
  other?.release()
  expect(await isSettled(next)).toBe(true)
})
