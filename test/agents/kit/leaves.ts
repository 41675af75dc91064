/** A string somewhere in a native frame, with the names that lead to it. */
export interface Leaf {
  path: readonly string[]
  value: string
}

export function* leavesOf(value: unknown, path: readonly string[] = []): Generator<Leaf> {
  if (typeof value === 'string') {
    if (value !== '') yield { path, value }
  } else if (Array.isArray(value)) {
    for (const item of value) yield* leavesOf(item, path)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) yield* leavesOf(child, [...path, key])
  }
}

function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

/**
 * The frames of a transcript that are about its own turns. History that a loaded session replays was told when it
 * happened, and a process may have other sessions than the one that is recorded.
 */
export function ownFrames(messages: readonly { dir: unknown; msg: unknown }[]): unknown[] {
  let session: unknown
  let replaying = false
  return messages.flatMap(({ dir, msg }) => {
    const at = (...keys: string[]) => keys.reduce<unknown>((value, key) => property(value, key), msg)
    if (dir !== 'out') {
      if (at('method') === 'session/load') replaying = true
      if (at('method') === 'session/prompt') replaying = false
      return []
    }
    session = at('result', 'sessionId') ?? session
    if (at('method') !== 'session/update') return [msg]
    const foreign = session !== undefined && at('params', 'sessionId') !== session
    const content = /chunk|tool_call/.test(String(at('params', 'update', 'sessionUpdate')))
    return foreign || (replaying && content) ? [] : [msg]
  })
}
