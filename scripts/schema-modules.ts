import { globSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'

/** An exported zod schema, with the doc comment above it. */
export interface NamedSchema {
  readonly name: string
  readonly schema: z.ZodType
  readonly doc: string | undefined
  /** The module that declares it, from the root of the repository. */
  readonly path: string
}

/** The modules with printed types: the model, and the events of two public entries. */
const PATHS = [
  ...globSync('src/model/**/*.ts', { exclude: ['**/*.types.ts', '**/index.ts'] }).sort(),
  'src/dialects/kit/open-request.ts',
  'src/dialects/ues/ues-event.ts',
  'src/dialects/unified/unified-config.ts',
  'src/dialects/unified/unified-event.ts',
  'src/dialects/unified/unified-extension.ts',
  'src/dialects/kit/usage-partial.ts',
]

const EXPORTED = /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export const (\w+)\b/g

/** The doc comment of every exported constant, in the order of the source. */
function docsIn(path: string): ReadonlyMap<string, string | undefined> {
  const found = readFileSync(path, 'utf8').matchAll(EXPORTED)
  return new Map(Array.from(found, ([, comment, name = '']) => [name, comment && flat(comment)]))
}

function flat(comment: string): string {
  return comment
    .replaceAll(/^\s*\*/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

async function schemasIn(path: string): Promise<NamedSchema[]> {
  const module: Record<string, unknown> = await import(pathToFileURL(path).href)
  return Array.from(docsIn(path)).flatMap(([name, doc]) => {
    const schema = module[name]
    return schema instanceof z.ZodType ? [{ name, schema, doc, path }] : []
  })
}

/** Every named schema, in the order of the modules. */
export const SCHEMAS: readonly NamedSchema[] = (await Promise.all(PATHS.map(schemasIn))).flat()

// `describe` clones a schema but shares its definition, so the definition identifies a schema.
const byDefinition = new Map(SCHEMAS.map((named) => [named.schema._zod.def, named]))

/** The exported name of a schema; undefined for a schema that is written inline. */
export function namedSchema(schema: z.core.$ZodType): NamedSchema | undefined {
  return byDefinition.get(schema._zod.def as z.ZodType['_zod']['def'])
}
