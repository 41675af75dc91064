import type * as z from 'zod'

type Schema = z.core.JSONSchema._JSONSchema

/** A JSON Schema as people write types: `"a" | "b"`, `string[]`, `{ code: integer, signal?: string }`. */
export function typeText(schema: Schema): string {
  if (typeof schema === 'boolean') return 'anything'
  if (schema.$ref) return schema.$ref
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.anyOf) return schema.anyOf.map(typeText).join(' | ')
  if (schema.type === 'array') return listText(schema.items)
  if (schema.type === 'object') return objectText(schema)
  return [schema.type ?? 'anything'].flat().join(' | ')
}

function listText(items: Schema | Schema[] | undefined): string {
  const item = items === undefined || Array.isArray(items) ? 'anything' : typeText(items)
  return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
}

function objectText(schema: Exclude<Schema, boolean>): string {
  if (!schema.properties) return `{ [name]: ${typeText(schema.additionalProperties ?? true)} }`
  const fields = Object.entries(schema.properties).map(
    ([name, field]) => `${name}${schema.required?.includes(name) ? '' : '?'}: ${typeText(field)}`,
  )
  return `{ ${fields.join(', ')} }`
}
