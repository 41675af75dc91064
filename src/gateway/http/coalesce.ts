/** Shares one call between callers that come while it runs, or within `keptMs` after it has succeeded. */
export function coalesce<T>(ask: () => Promise<T>, keptMs = 0): () => Promise<T> {
  let asking: Promise<T> | undefined
  let askedAt: number | undefined
  return () => {
    if (askedAt !== undefined && performance.now() - askedAt >= keptMs) asking = undefined
    if (asking) return asking
    askedAt = undefined
    asking = ask()
    asking.then(
      () => {
        askedAt = performance.now()
      },
      () => {
        asking = undefined
      },
    )
    return asking
  }
}
