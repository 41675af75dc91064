import type { Timers } from '../drivers/driver.ts'

/** Waits for a promise, but no longer than `ms`. */
export async function withTimeout(timers: Timers, ms: number, awaited: Promise<unknown>): Promise<void> {
  const over = new AbortController()
  try {
    await Promise.race([awaited, timers.sleep(ms, over.signal)])
  } finally {
    over.abort()
  }
}
