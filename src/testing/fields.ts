/** Typed access to the JSON of a request. A field of another type than expected counts as absent. */
export type JsonFields = { readonly [key: string]: unknown }

const NONE: JsonFields = Object.freeze({})

export function isFields(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function text(of: JsonFields, key: string): string | undefined {
  const value = of[key]
  return typeof value === 'string' ? value : undefined
}

export function fields(of: JsonFields, key: string): JsonFields {
  const value = of[key]
  return isFields(value) ? value : NONE
}

/** The objects of a list field. */
export function items(of: JsonFields, key: string): JsonFields[] {
  const value = of[key]
  return Array.isArray(value) ? value.filter(isFields) : []
}

/** The texts of a content field, which is one string or a list of parts. */
export function contentText(of: JsonFields, key: string): string {
  return (
    text(of, key) ??
    items(of, key)
      .map((part) => text(part, 'text') ?? '')
      .join('')
  )
}
