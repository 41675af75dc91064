import type { Timers } from './driver.ts'

/** Node fires longer timeouts immediately. */
const LONGEST_MS = 2 ** 31 - 1

/** Timers of the system. */
export const systemTimers: Timers = {
  async sleep(ms, signal) {
    for (let left = ms; left > 0 && !signal.aborted; left -= LONGEST_MS) {
      await slept(Math.min(left, LONGEST_MS), signal)
    }
  },
}

function slept(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    signal.addEventListener('abort', wake)
  })
}
