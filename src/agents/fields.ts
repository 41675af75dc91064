/**
 * Typed looks into native JSON. Hot rules read fields through these, not through schemas and not through casts:
 * a field of another type than expected is simply not there.
 */
export type Fields = { readonly [key: string]: unknown }

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const NONE: Fields = Object.freeze({})
const EMPTY: readonly unknown[] = Object.freeze([])

/** A string field, or undefined. */
export function text(fields: Fields, key: string): string | undefined {
  return asText(fields[key])
}

/** The same for a field that was taken by its name: in rules for what comes in streams that is many times faster. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function number(fields: Fields, key: string): number | undefined {
  const value = fields[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** A number that is not negative, as money and delays are. */
export function amount(fields: Fields, key: string): number | undefined {
  return asAmount(fields[key])
}

export function asAmount(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined
}

/** A whole number, as exit codes and HTTP statuses are. */
export function int(fields: Fields, key: string): number | undefined {
  return asInt(fields[key])
}

export function asInt(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}

/** A whole number that is not negative, as token counts and durations are. */
export function count(fields: Fields, key: string): number | undefined {
  return asCount(fields[key])
}

export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

export function flag(fields: Fields, key: string): boolean {
  return fields[key] === true
}

/** An object field; an empty one when it is missing. */
export function fields(of: Fields, key: string): Fields {
  return asFields(of[key])
}

export function asFields(value: unknown): Fields {
  return isFields(value) ? value : NONE
}

export function list(of: Fields, key: string): readonly unknown[] {
  const value = of[key]
  return Array.isArray(value) ? value : EMPTY
}

/** The objects of a list field. */
export function objects(of: Fields, key: string): readonly Fields[] {
  return only(list(of, key), isFields)
}

/** The strings of a list field, or undefined when there is no such list. */
export function texts(of: Fields, key: string): string[] | undefined {
  const value = of[key]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined
}

/** Those of a list that are what they should be. Nearly always all are, and then it is the list itself. */
export function only<T>(values: readonly unknown[], is: (value: unknown) => value is T): readonly T[] {
  return values.every(is) ? values : values.filter(is)
}

type Compact<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** Leaves out what is undefined, so that an absent field stays absent. What lacks nothing is handed back as it is. */
export function compact<T extends object>(object: T): Compact<T> {
  for (const key in object) if (object[key] === undefined) return withoutGaps(object)
  return object as Compact<T>
}

function withoutGaps<T extends object>(object: T): Compact<T> {
  const out: Partial<T> = {}
  // Not by entries: this runs for almost every event, and they would be a list of lists.
  for (const key in object) if (object[key] !== undefined) out[key] = object[key]
  return out as Compact<T>
}
