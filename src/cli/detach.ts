/** The requests of the user by terminal signals. */
export interface Detachable extends Disposable {
  /** Fires with the second Ctrl-C, or when the terminal was closed: stop watching, the session continues. */
  readonly detached: AbortSignal
}

/** Calls `interrupt` with the first Ctrl-C. */
export function onCtrlC(interrupt: () => void): Detachable {
  const detach = new AbortController()
  let interrupted = false
  const onInterrupt = () => {
    if (interrupted) detach.abort()
    else interrupt()
    interrupted = true
  }
  const onEnd = () => detach.abort()
  process.on('SIGINT', onInterrupt)
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, onEnd)
  return {
    detached: detach.signal,
    [Symbol.dispose]() {
      process.off('SIGINT', onInterrupt)
      for (const signal of ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.off(signal, onEnd)
    },
  }
}
