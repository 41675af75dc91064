/** The text that `editAll` writes. No agent writes it. */
export const EDITED = 'EDITED BY THE CONSUMER'

/** Replaces every string and number in a value, adds a field to every object and an item to every array. */
export function editAll(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const key of Object.keys(value)) {
    const child: unknown = Reflect.get(value, key)
    if (typeof child === 'object' && child !== null) editAll(child)
    else if (!Reflect.set(value, key, EDITED)) throw new Error(`${key} is read-only`)
  }
  if (Array.isArray(value)) value.push(EDITED)
  else Reflect.set(value, EDITED, EDITED)
}
