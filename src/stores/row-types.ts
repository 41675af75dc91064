import type { EventType } from '../model/index.ts'

/** Pieces of something that is reported whole later. Most entries are of these types, so no index has them. */
const STREAMED: ReadonlySet<string> = new Set<EventType>([
  'text.delta',
  'thinking.delta',
  'tool.input.delta',
  'tool.progressed',
  'output.written',
])

const TYPE = /"event":\{"type":"([a-z.]+)"/

/** The types of entries as their row has them, by their texts. Undefined if one of them has no type. */
export function typesIn(texts: readonly string[]): string | undefined {
  const types = texts.map(typeIn)
  return types.every((type) => type !== undefined) ? namedTypes(types) : undefined
}

/**
 * The type of an entry, without parsing it. Quotes inside a JSON string are escaped, and nothing before the event is an
 * object, so the first match is the event of the entry.
 */
export function typeIn(text: string): string | undefined {
  return TYPE.exec(text)?.[1]
}

/** Whether rows name all of these types. */
export function areNamed(types: Iterable<EventType>): boolean {
  return [...types].every((type) => !STREAMED.has(type))
}

/** Whether a row with these types has one of those. */
export function hasAny(row: string, types: ReadonlySet<EventType>): boolean {
  const wanted: ReadonlySet<string> = types
  return row.split(' ').some((type) => wanted.has(type))
}

/** Types as a row has them: without streamed ones. */
export function namedTypes(types: readonly string[]): string {
  const found = new Set<string>()
  for (const type of types) if (!STREAMED.has(type)) found.add(type)
  return found.size < 2 ? ([...found][0] ?? '') : [...found].sort().join(' ')
}
