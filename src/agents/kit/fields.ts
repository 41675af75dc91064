/**
 * Typed access to native JSON. Hot rules use these functions instead of schemas or casts: a field of an unexpected type
 * counts as absent.
 */
export type Fields = { readonly [key: string]: unknown }

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const NONE: Fields = Object.freeze({})
const EMPTY: readonly unknown[] = Object.freeze([])

/** Compares JSON values; the order of fields does not matter. */
export function sameValue(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (Array.isArray(one))
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => sameValue(item, other[index]))
    )
  if (!isFields(one) || !isFields(other)) return false
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && sameValue(one[key], other[key]))
  )
}

/** A string field, or undefined. */
export function text(fields: Fields, key: string): string | undefined {
  const value = fields[key]
  return typeof value === 'string' ? value : undefined
}

/** Finds the first of these fields that has a text. */
export function firstText(...keys: readonly string[]): (value: unknown) => string | undefined {
  return (value) => {
    const given = asFields(value)
    for (const key of keys) if (text(given, key)) return text(given, key)
    return undefined
  }
}

/** Like `text`, for a value that was read by name, which is many times faster in hot rules. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function number(fields: Fields, key: string): number | undefined {
  const value = fields[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** A non-negative number, such as a cost or a delay. */
export function amount(fields: Fields, key: string): number | undefined {
  return asAmount(fields[key])
}

export function asAmount(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined
}

/** A whole number, such as an exit code or an HTTP status. */
export function int(fields: Fields, key: string): number | undefined {
  return asInt(fields[key])
}

export function asInt(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}

/** A non-negative whole number, such as a token count or a duration. */
export function count(fields: Fields, key: string): number | undefined {
  return asCount(fields[key])
}

export function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

export function flag(fields: Fields, key: string): boolean {
  return fields[key] === true
}

/** An object field; an empty object when it is missing. */
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

/** Filters a list by type. Returns the list itself if all values match, which is nearly always the case. */
export function only<T>(values: readonly unknown[], is: (value: unknown) => value is T): readonly T[] {
  return values.every(is) ? values : values.filter(is)
}

type Compact<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** Drops undefined fields, so that an absent field stays absent. Returns the object itself if none is undefined. */
export function compact<T extends object>(object: T): Compact<T> {
  for (const key in object) if (object[key] === undefined) return withoutGaps(object)
  return object as Compact<T>
}

function withoutGaps<T extends object>(object: T): Compact<T> {
  const out: Partial<T> = {}
  // Avoids `Object.entries`, which would allocate a list of lists for almost every event.
  for (const key in object) if (object[key] !== undefined) out[key] = object[key]
  return out as Compact<T>
}
