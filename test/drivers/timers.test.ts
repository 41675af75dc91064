import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemTimers } from '../../src/drivers/timers.ts'

describe('the time of the machine', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const sleeping = (ms: number, signal = new AbortController().signal) => {
    const sleep = { over: false }
    void systemTimers.sleep(ms, signal).then(() => {
      sleep.over = true
    })
    return sleep
  }

  it('passes', async () => {
    const sleep = sleeping(1_000)
    await vi.advanceTimersByTimeAsync(999)
    expect(sleep.over).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(sleep.over).toBe(true)
  })

  it('passes no faster when there is very much of it', async () => {
    const month = 31 * 24 * 60 * 60 * 1_000
    const sleep = sleeping(month)
    await vi.advanceTimersByTimeAsync(month - 1)
    expect(sleep.over).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(sleep.over).toBe(true)
  })

  it('is cut short by the signal, and leaves no timer', async () => {
    const cut = new AbortController()
    const sleep = sleeping(1_000, cut.signal)
    cut.abort()
    await vi.advanceTimersByTimeAsync(0)
    expect(sleep.over).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('does not start after the signal', async () => {
    const sleep = sleeping(1_000, AbortSignal.abort())
    await vi.advanceTimersByTimeAsync(0)
    expect(sleep.over).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })
})
