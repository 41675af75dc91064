/** A message of an agent's own protocol. */
export type Native = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is Native {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value at a path of keys; absent where the path leads nowhere. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value
  for (const key of path) {
    if (Array.isArray(found) && typeof key === 'number') found = found[key]
    else found = isRecord(found) ? found[String(key)] : undefined
  }
  return found
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : ''
}
