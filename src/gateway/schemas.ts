import { readdir, readFile } from 'node:fs/promises'
import { z } from 'zod'
import { MainstemError } from '../model/index.ts'
import { type Endpoint, endpoint } from './endpoint.ts'

/** Beside the sources, and in the package. */
const FOLDER = new URL('../../docs/schemas/', import.meta.url)

const TYPE = 'application/schema+json'

/** The JSON Schemas of what this server sends and takes, as they are published. */
export function schemaEndpoint(): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/schemas/:name',
    summary: 'A JSON Schema by the name of its file, such as `board-event.json`',
    auth: 'ticket',
    params: z.strictObject({ name: z.string() }),
    query: z.strictObject({ ticket: z.string().optional() }),
    answers: { [TYPE]: z.unknown() },
    errors: ['not_found'],
    async run({ params: { name }, reply }) {
      // Only a name that is in the list comes near the file system.
      const names = await readdir(FOLDER)
      if (!names.includes(name)) {
        throw new MainstemError('not_found', `there is no such schema; known: ${names.sort().join(', ')}`)
      }
      return reply.type(TYPE).send(await readFile(new URL(name, FOLDER)))
    },
  })
}
