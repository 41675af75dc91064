type Schema = Readonly<Record<string, unknown>>

/** A schema for a reader: a link for a named one, a table of its fields for an object, otherwise its JSON. */
export function shownSchema(schema: object): string {
  const given = schema as Schema
  if (nameOf(given) !== undefined || isList(given)) return `<p>${typeOf(given)}</p>`
  if (!isObject(given.properties)) return asJson(given)
  const required = new Set(Array.isArray(given.required) ? given.required : [])
  const rows = Object.entries(given.properties).map(([name, field]) =>
    row(name, required.has(name) ? 'required' : '', isObject(field) ? field : {}),
  )
  return `<table>${rows.join('')}</table><details><summary>JSON Schema</summary>${asJson(given)}</details>`
}

/** A row of a table of fields or parameters. `place` says where it belongs, or whether it is required. */
export function row(name: string, place: string, schema: object): string {
  const given = schema as Schema
  const description = typeof given.description === 'string' ? given.description : ''
  const cells = [`<code>${html(name)}</code>`, typeOf(given), html(place), prose(description)]
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
}

/** The id of a named schema on the page. */
export const schemaId = (name: string) => `schema-${name}`

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

export function html(text: string): string {
  return text.replaceAll(/[&<>"]/g, (char) => ENTITIES[char] ?? char)
}

/** Text with code between backticks. */
export function prose(text: string): string {
  return html(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

function typeOf(schema: Schema): string {
  const name = nameOf(schema)
  if (name !== undefined) return `<a href="#${schemaId(html(name))}">${html(name)}</a>`
  if (isList(schema)) return `list of ${typeOf(schema.items as Schema)}`
  const choices = [schema.anyOf, schema.oneOf].find(Array.isArray)
  if (choices) return choices.map((one) => typeOf(isObject(one) ? one : {})).join(' or ')
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : undefined
  if (values) return values.map((value) => `<code>${html(JSON.stringify(value))}</code>`).join(' or ')
  const kind = isObject(schema.properties) && isObject(schema.properties.type) ? schema.properties.type : {}
  if ('const' in kind) return `an object of type ${typeOf(kind)}`
  return typeof schema.type === 'string' ? html(schema.type) : 'any'
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isList = (schema: Schema) => schema.type === 'array' && isObject(schema.items)

function nameOf({ $ref }: Schema): string | undefined {
  return typeof $ref === 'string' ? $ref.split('/').at(-1) : undefined
}

/** The JSON of a schema, in which the names of schemas are links. */
function asJson(schema: Schema): string {
  const json = html(JSON.stringify(schema, null, 2)).replaceAll(
    /#\/components\/schemas\/(\w+)/g,
    (ref, name: string) => `<a href="#${schemaId(name)}">${ref}</a>`,
  )
  return `<pre>${json}</pre>`
}
