/**
 * Prints a named type for every exported schema, with the descriptions of the schema as doc comments. Editors show the
 * name and the comments on hover; a type that is inferred from a schema has neither.
 */
import { dirname, relative } from 'node:path/posix'
import * as z from 'zod'
import { type NamedSchema, namedSchema, SCHEMAS } from './schema-modules.ts'

const NOTE = '// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.'
const WIDTH = 110

type Schema = z.core.$ZodType

/** The generated module of a schema module. */
export const typesPath = (path: string) => path.replace(/\.ts$/, '.types.ts')

/** Every module of types by its path. */
export function typeModules(): Record<string, string> {
  const modules = Map.groupBy(SCHEMAS, ({ path }) => path)
  return Object.fromEntries(Array.from(modules, ([path, schemas]) => [typesPath(path), print(path, schemas)]))
}

function print(path: string, schemas: readonly NamedSchema[]): string {
  const used = new Set<NamedSchema>()
  const printer = new Printer(used)
  const declarations = schemas.map((named) => printer.declaration(named))
  const parts = [NOTE, ...imports(path, used), ...declarations]
  return `${parts.join('\n\n')}\n`
}

function imports(from: string, used: ReadonlySet<NamedSchema>): string[] {
  const others = Map.groupBy(
    [...used].filter(({ path }) => path !== from),
    ({ path }) => relative(dirname(from), typesPath(path)),
  )
  const lines = Array.from(others, ([path, named]) =>
    importLine(path, named.map(({ name }) => name).sort(ignoringCase)),
  )
  // The formatter wants imports from parent folders first.
  const sorted = [
    ...lines.filter(isFromParent).sort(bySpecifier),
    ...lines.filter(isBeside).sort(bySpecifier),
  ]
  return sorted.length === 0 ? [] : [sorted.join('\n')]
}

function importLine(path: string, names: readonly string[]): string {
  const specifier = path.startsWith('.') ? path : `./${path}`
  const line = `import type { ${names.join(', ')} } from '${specifier}'`
  if (line.length <= WIDTH) return line
  return ['import type {', ...names.map((name) => `  ${name},`), `} from '${specifier}'`].join('\n')
}

const ignoringCase = (a: string, b: string) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)
const specifierOf = (line: string) => line.slice(line.indexOf("'"))
const bySpecifier = (a: string, b: string) => (specifierOf(a) < specifierOf(b) ? -1 : 1)
const isFromParent = (line: string) => specifierOf(line).startsWith("'../")
const isBeside = (line: string) => !isFromParent(line)

class Printer {
  readonly #used: Set<NamedSchema>

  constructor(used: Set<NamedSchema>) {
    this.#used = used
  }

  declaration({ name, schema, doc }: NamedSchema): string {
    const comment = doc === undefined ? '' : `${docComment(doc, '')}\n`
    if (schema instanceof z.ZodObject) return `${comment}export type ${name} = ${this.#fields(schema, '')}`
    return comment + broken(`export type ${name} = `, this.#written(schema, ''), '')
  }

  #fields({ shape }: z.ZodObject, indent: string): string {
    const inner = `${indent}  `
    const fields = Object.entries(shape).map(([key, field]) => this.#field(key, field, inner))
    return `{\n${fields.join('\n')}\n${indent}}`
  }

  #field(key: string, field: Schema, indent: string): string {
    const isOptional = field instanceof z.ZodOptional || field instanceof z.ZodExactOptional
    const inner = isOptional ? field.unwrap() : field
    const type = this.#type(inner, indent)
    const absent = field instanceof z.ZodOptional && type !== 'unknown' ? ' | undefined' : ''
    const line = broken(`${indent}${key}${isOptional ? '?' : ''}: `, type + absent, indent)
    const doc = descriptionOf(field) ?? descriptionOf(inner) ?? discriminator(key, inner)
    return doc === undefined ? line : `${docComment(doc, indent)}\n${line}`
  }

  #type(schema: Schema, indent: string): string {
    const named = namedSchema(schema)
    if (!named) return this.#written(schema, indent)
    this.#used.add(named)
    return named.name
  }

  #written(schema: Schema, indent: string): string {
    if (schema instanceof z.ZodLiteral) return [...schema.values].map(literal).join(' | ')
    if (schema instanceof z.ZodEnum) return schema.options.map(literal).join(' | ')
    if (schema instanceof z.ZodUnion) return schema.options.map((one) => this.#type(one, indent)).join(' | ')
    if (schema instanceof z.ZodNullable) return `${this.#type(schema.unwrap(), indent)} | null`
    if (schema instanceof z.ZodRecord) return `Record<string, ${this.#type(schema.valueType, indent)}>`
    if (schema instanceof z.ZodTemplateLiteral) return templateOf(schema)
    if (schema instanceof z.ZodArray) {
      const item = this.#type(schema.element, indent)
      return item.includes(' | ') ? `(${item})[]` : `${item}[]`
    }
    const { type } = schema._zod.def
    if (type === 'string' || type === 'number' || type === 'boolean' || type === 'unknown') return type
    throw new Error(
      `Cannot print an inline schema of type ${type}. Export it, or add it to scripts/printed-types.ts.`,
    )
  }
}

const literal = (value: z.core.util.Literal) => (typeof value === 'string' ? `'${value}'` : String(value))

function templateOf({ def }: z.ZodTemplateLiteral): string {
  const parts = def.parts.map((part) => (typeof part === 'object' && part !== null ? PLACEHOLDER : part))
  return `\`${parts.join('')}\``
}

const PLACEHOLDER = ['$', '{string}'].join('')

function descriptionOf(schema: Schema): string | undefined {
  return z.globalRegistry.get(schema)?.description
}

/** The sentence for a field `type` that narrows a union. */
function discriminator(key: string, schema: Schema): string | undefined {
  return key === 'type' && schema instanceof z.ZodLiteral ? 'Narrows the union.' : undefined
}

/** Breaks a union that does not fit in a line, as the formatter does. */
function broken(start: string, type: string, indent: string): string {
  const line = start + type
  if (line.length <= WIDTH || line.includes('\n') || !type.includes(' | ')) return line
  return [start.trimEnd(), ...type.split(' | ').map((member) => `${indent}  | ${member}`)].join('\n')
}

function docComment(text: string, indent: string): string {
  const line = `${indent}/** ${text} */`
  if (line.length <= WIDTH) return line
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (`${indent} * ${last} ${word}`.length > WIDTH) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return [`${indent}/**`, ...lines.map((one) => `${indent} * ${one}`), `${indent} */`].join('\n')
}
