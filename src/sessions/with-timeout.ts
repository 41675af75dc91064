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

/** Waits for work that takes a signal, with a time limit. */
export async function until<T>(
  timers: Timers,
  ms: number,
  signal: AbortSignal,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  void timers.sleep(ms, either).then(
    () => over.abort(),
    () => over.abort(),
  )
  try {
    return await wait(either)
  } finally {
    over.abort()
  }
}
