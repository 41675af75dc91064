import { readdir, readFile } from 'node:fs/promises'
import * as z from 'zod'
import { MainstemError } from '../../../model/index.ts'
import { type Endpoint, endpoint } from '../endpoint.ts'

/** Next to the sources and in the package. */
const FOLDER = new URL('../../../../docs/schemas/', import.meta.url)

const TYPE = 'application/schema+json'

/** File names that the protocol document uses for its schemas. */
const DOCUMENTED: Readonly<Record<string, string>> = {
  'session-request.json': 'unified-request.json',
  'claude/session-event.json': 'board-event.printed.json',
  'codex/thread-event.json': 'unified-codex-event.printed.json',
  'gemini/stream-event.json': 'unified-gemini-event.printed.json',
}

const FILE = z.strictObject({ name: z.string() })
const FILE_OF_AGENT = z.strictObject({ agent: z.string(), name: z.string() })

const COMMON = {
  method: 'GET',
  auth: 'ticket',
  query: z.strictObject({ ticket: z.string().optional() }),
  answers: { [TYPE]: z.unknown() },
  errors: ['not_found'],
} as const

/** Serves the published JSON Schemas of requests and responses. */
export function schemaEndpoints(): Endpoint[] {
  return [
    endpoint({
      ...COMMON,
      url: '/schemas/:name',
      summary: 'Get a JSON Schema by file name, such as `board-event.json`',
      params: FILE,
      run: async ({ params: { name }, reply }) => reply.type(TYPE).send(await schemaOf(name)),
    }),
    endpoint({
      ...COMMON,
      url: '/schemas/:agent/:name',
      summary: 'Get the JSON Schema of an agent’s native events, such as `codex/thread-event.json`',
      params: FILE_OF_AGENT,
      run: async ({ params: { agent, name }, reply }) =>
        reply.type(TYPE).send(await schemaOf(`${agent}/${name}`)),
    }),
  ]
}

/** Only a name from the directory listing reaches the file system. */
async function schemaOf(name: string): Promise<Buffer> {
  const names = await readdir(FOLDER)
  const file = (Object.hasOwn(DOCUMENTED, name) && DOCUMENTED[name]) || name
  if (names.includes(file)) return readFile(new URL(file, FOLDER))
  const known = [...names, ...Object.keys(DOCUMENTED)].sort().join(', ')
  throw new MainstemError('not_found', `no such schema; known schemas: ${known}`)
}
