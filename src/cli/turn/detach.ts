/** The requests of the user by Ctrl-C and other terminal signals. */
export interface Detachable extends Disposable {
  /** Fires with the first Ctrl-C. */
  readonly interrupted: AbortSignal
  /** Fires with the second Ctrl-C, or when the terminal was closed: stop watching, the session continues. */
  readonly detached: AbortSignal
  /** Counts a Ctrl-C that a prompt has read as a key. */
  press(): void
  /** Stops watching. */
  detach(): void
  /** The next Ctrl-C is a first one again. */
  rearm(): void
}

/** Calls `interrupt` with the first Ctrl-C; its signal fires with the second, which does not wait for the first. */
export function onCtrlC(interrupt: (detached: AbortSignal) => void): Detachable {
  const first = new AbortController()
  const detach = new AbortController()
  let isPressed = false
  const press = () => {
    if (isPressed) return detach.abort()
    isPressed = true
    first.abort()
    interrupt(detach.signal)
  }
  const onEnd = () => detach.abort()
  process.on('SIGINT', press)
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, onEnd)
  return {
    interrupted: first.signal,
    detached: detach.signal,
    press,
    detach: onEnd,
    rearm() {
      isPressed = false
    },
    [Symbol.dispose]() {
      process.off('SIGINT', press)
      for (const signal of ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.off(signal, onEnd)
    },
  }
}
