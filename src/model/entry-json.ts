import type { Entry } from './entry.ts'

/** Texts live as long as their entries do, and no longer. */
const texts = new WeakMap<object, string>()

/** An entry as JSON. It is written once, for the log, and everybody who reads along is sent the same text. */
export function entryJson(entry: Entry): string {
  const text = JSON.stringify(entry)
  texts.set(entry, text)
  return text
}

/** A value as JSON; an entry that was written before is not written again. */
export function toJson(value: unknown): string {
  const known = typeof value === 'object' && value !== null ? texts.get(value) : undefined
  return known ?? JSON.stringify(value)
}
