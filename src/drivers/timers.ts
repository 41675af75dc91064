import type { Timers } from './driver.ts'

/** Node fires longer timeouts immediately. */
const LONGEST_MS = 2 ** 31 - 1

/** Timers of the system. */
export const systemTimers: Timers = { sleep: (ms, signal) => sleep(ms, signal, false) }

/** Timers that do not keep the program running. */
export const backgroundTimers: Timers = { sleep: (ms, signal) => sleep(ms, signal, true) }

async function sleep(ms: number, signal: AbortSignal, isBackground: boolean): Promise<void> {
  for (let left = ms; left > 0 && !signal.aborted; left -= LONGEST_MS) {
    await slept(Math.min(left, LONGEST_MS), signal, isBackground)
  }
}

function slept(ms: number, signal: AbortSignal, isBackground: boolean): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    if (isBackground) timer.unref()
    signal.addEventListener('abort', wake)
  })
}
