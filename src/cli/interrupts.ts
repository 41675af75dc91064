/** Ctrl-C, or a request to end: fires on the first of them, and keeps the others from cutting off the ending. */
export function interrupts(): AbortSignal & Disposable {
  const interrupted = new AbortController()
  const listener = () => interrupted.abort()
  process.on('SIGINT', listener)
  process.on('SIGTERM', listener)
  return Object.assign(interrupted.signal, {
    [Symbol.dispose]() {
      process.off('SIGINT', listener)
      process.off('SIGTERM', listener)
    },
  })
}
