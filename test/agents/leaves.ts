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

/** What says which kind of frame this is, in any of the protocols. */
export function frameNames(frame: unknown): string[] {
  if (typeof frame !== 'object' || frame === null) return []
  const at = (...keys: string[]) => keys.reduce<unknown>((value, key) => property(value, key), frame)
  const kinds = [
    at('type'),
    at('method'),
    at('params', 'update', 'sessionUpdate'),
    at('properties', 'part', 'type'),
    at('item', 'type'),
    at('params', 'item', 'type'),
  ].filter((kind) => typeof kind === 'string')
  const refinements = [
    at('subtype'),
    at('role'),
    at('message', 'role'),
    at('status'),
    at('params', 'item', 'type'),
    at('properties', 'info', 'role'),
  ]
  const pairs = kinds.flatMap((kind) =>
    refinements.filter((word) => typeof word === 'string').map((word) => `${kind}/${word}`),
  )
  return [...kinds, ...pairs]
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

/** Is a leaf named as one that is deliberately left out: by its field, by the end of its path, or by its frame? */
export function isDropped(
  leaf: Leaf,
  frames: readonly string[],
  dropped: Readonly<Record<string, string>>,
): boolean {
  if (frames.some((name) => Object.hasOwn(dropped, name))) return true
  if (beginsAsNamed(leaf, dropped)) return true
  return leaf.path.some((_, index) => {
    // A dropped object takes everything below it along.
    for (let end = index + 1; end <= leaf.path.length; end++) {
      if (Object.hasOwn(dropped, leaf.path.slice(index, end).join('.'))) return true
    }
    return false
  })
}

/** `path=start` names only those strings at the end of a path that begin so. */
function beginsAsNamed({ path, value }: Leaf, dropped: Readonly<Record<string, string>>): boolean {
  return Object.keys(dropped).some((key) => {
    const [end = '', start] = key.split('=')
    return start !== undefined && value.startsWith(start) && path.join('.').endsWith(end)
  })
}
