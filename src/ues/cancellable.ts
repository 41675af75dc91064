/**
 * Creates a generator whose `return` aborts a pending `next`. `return` of an ordinary generator waits for the pending
 * value, which may be minutes away.
 */
export function cancellable<T>(
  begin: (stop: AbortSignal) => AsyncGenerator<T, void, void>,
): AsyncGenerator<T, void, void> {
  const stop = new AbortController()
  const inner = begin(stop.signal)
  return {
    next: () => inner.next(),
    return() {
      stop.abort()
      return inner.return()
    },
    throw(thrown: unknown) {
      stop.abort()
      return inner.throw(thrown)
    },
    [Symbol.asyncIterator]() {
      return this
    },
    async [Symbol.asyncDispose]() {
      await this.return()
    },
  }
}
