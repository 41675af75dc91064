/** The requests of the user by terminal signals. */
export interface Detachable extends Disposable {
  /** Fires with the second Ctrl-C, or when the terminal was closed: stop watching, the session continues. */
  readonly detached: AbortSignal
}

/** Calls `interrupt` with the first Ctrl-C; its signal fires with the second, which does not wait for the first. */
export function onCtrlC(interrupt: (detached: AbortSignal) => void): Detachable {
  const detach = new AbortController()
  let interrupted = false
  const onInterrupt = () => {
    if (interrupted) detach.abort()
    else interrupt(detach.signal)
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
