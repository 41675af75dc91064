/** Typed access to the JSON of a request. A field of another type than expected counts as absent. */
export type Fields = { readonly [key: string]: unknown }

const NONE: Fields = Object.freeze({})

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function text(of: Fields, key: string): string | undefined {
  const value = of[key]
  return typeof value === 'string' ? value : undefined
}

export function fields(of: Fields, key: string): Fields {
  const value = of[key]
  return isFields(value) ? value : NONE
}

/** The objects of a list field. */
export function items(of: Fields, key: string): Fields[] {
  const value = of[key]
  return Array.isArray(value) ? value.filter(isFields) : []
}

/** The texts of a content field, which is one string or a list of parts. */
export function contentText(of: Fields, key: string): string {
  return (
    text(of, key) ??
    items(of, key)
      .map((part) => text(part, 'text') ?? '')
      .join('')
  )
}
