/** The parts of an OpenAPI document that the reference shows. */
export interface ReferenceDocument {
  paths: Record<string, Record<string, ReferenceOperation>>
  components: { schemas: Record<string, object> }
}

export interface ReferenceOperation {
  operationId: string
  summary: string
  parameters: readonly { name: string; in: string; required: boolean; schema: object }[]
  requestBody?: object
  responses: Record<string, { description: string; content?: object }>
}

const NOTE = 'Made from the OpenAPI description that a server publishes at `GET /openapi.json`.'

/** The reference of all routes as a page: for each its parameters, its request, its responses and its errors. */
export function httpReference({ paths, components }: ReferenceDocument): string {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => route(`${method.toUpperCase()} ${path}`, operation)),
  )
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `### ${name}\n\n${fields(schema)}${json(schema)}`,
  )
  return `${['# HTTP routes', NOTE, ...routes, '## Schemas', ...schemas].join('\n\n')}\n`
}

function route(title: string, { summary, parameters, requestBody, responses }: ReferenceOperation): string {
  const listed = parameters.map(
    ({ name, in: place, required, schema }) =>
      `| \`${name}\` | ${place}${required ? ', required' : ''} | ${cell(typeOf(schema))} |`,
  )
  const table = ['| parameter | in | type |', '|---|---|---|', ...listed].join('\n')
  const [good, bad] = split(Object.entries(responses), ([status]) => Number(status) < 400)
  return [
    // With an id of its own, because the site reads a path that ends in a parameter as attributes.
    `## ${title} {#${title.toLowerCase().replaceAll(/\W+/g, '-').replace(/-$/, '')}}`,
    `${summary}.`,
    ...(listed.length === 0 ? [] : [table]),
    ...(requestBody ? [`Request: ${body(requestBody)}`] : []),
    ...good.map(
      ([status, { description, content }]) =>
        `Response ${status}: ${content ? body({ content }) : description.toLowerCase()}`,
    ),
    ...(bad.length === 0
      ? []
      : [['Errors:', ...bad.map(([status, { description }]) => `- ${status}: ${description}`)].join('\n')]),
  ].join('\n\n')
}

function split<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

/** The schemas of a body, by content type. */
function body(described: object): string {
  const { content = {} } = described as { content?: Record<string, { schema?: object }> }
  return Object.entries(content)
    .map(([type, { schema = {} }]) => {
      const name = referred(schema)
      return name === undefined
        ? `\`${type}\`\n\n${json(schema)}`
        : `[${name}](#${name.toLowerCase()}) (\`${type}\`)`
    })
    .join('\n\n')
}

/** The fields of an object as a table; nothing for other schemas. */
function fields(schema: object): string {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, { description?: string }>
    required?: readonly string[]
  }
  const rows = Object.entries(properties).map(([name, field]) => {
    const needed = required.includes(name) ? 'yes' : ''
    return `| \`${name}\` | ${cell(typeOf(field))} | ${needed} | ${cell(field.description ?? '')} |`
  })
  if (rows.length === 0) return ''
  return `${['| field | type | required | |', '|---|---|---|---|', ...rows].join('\n')}\n\n`
}

function json(schema: object): string {
  return `\`\`\`json\n${JSON.stringify(schema, null, 2)}\n\`\`\``
}

function referred(schema: object): string | undefined {
  return '$ref' in schema ? String(schema.$ref).split('/').at(-1) : undefined
}

function typeOf(schema: object): string {
  const name = referred(schema)
  if (name !== undefined) return `[${name}](#${name.toLowerCase()})`
  if ('enum' in schema && Array.isArray(schema.enum)) return schema.enum.map((one) => `\`${one}\``).join(', ')
  if ('const' in schema) return `\`${JSON.stringify(schema.const)}\``
  if ('anyOf' in schema && Array.isArray(schema.anyOf)) return schema.anyOf.map(typeOf).join(' or ')
  if ('items' in schema && schema.items instanceof Object) return `list of ${typeOf(schema.items)}`
  return 'type' in schema ? String(schema.type) : 'any'
}

const cell = (text: string) => text.replaceAll('|', '\\|')
