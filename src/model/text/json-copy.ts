/**
 * Deep-copies a JSON value, so that the receiver can edit it. `structuredClone` supports more types and takes about ten
 * times as long.
 */
export function jsonCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => jsonCopy(item)) as T
  // A spread defines its fields: a field named `__proto__` stays a field and sets no prototype.
  const copy: T & object = { ...value }
  for (const key in copy) {
    const child = copy[key]
    if (typeof child === 'object' && child !== null) copy[key] = jsonCopy(child)
  }
  return copy
}
