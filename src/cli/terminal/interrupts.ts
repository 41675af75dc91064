/** Signals that end a program in order: Ctrl-C, a service manager, a closed terminal, Ctrl-\. */
export const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** Aborts on the first stop signal. Later signals do not interrupt the shutdown. */
export function interrupts(): AbortSignal & Disposable {
  const interrupted = new AbortController()
  const listener = () => interrupted.abort()
  for (const signal of STOP_SIGNALS) process.on(signal, listener)
  return Object.assign(interrupted.signal, {
    [Symbol.dispose]() {
      for (const signal of STOP_SIGNALS) process.off(signal, listener)
    },
  })
}
