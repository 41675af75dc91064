/** Timers, injected so that tests need not wait. */
export interface Timers {
  /** Resolves after `ms`, or at once when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** The timers of the platform. */
export const systemTimers: Timers = {
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      signal.addEventListener('abort', wake)
      if (signal.aborted) wake()
    }),
}
