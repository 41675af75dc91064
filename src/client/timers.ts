/** Time that passes, injected so that tests need not wait for it. */
export interface Timers {
  /** Settles after `ms`, or at once when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** Time as the machine tells it. */
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
