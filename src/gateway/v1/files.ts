import * as z from 'zod'
import { findFiles } from '../access/find-files.ts'
import { workingDirectory } from '../access/working-directory.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { OneAtATime } from '../http/one-at-a-time.ts'
import { named } from '../http/openapi/components.ts'
import { integer } from '../http/query.ts'

/** Searches of one principal that may wait: each key typed into a prompt starts one. */
const MAX_WAITING = 8

const FileList = named(
  'FileList',
  z.strictObject({
    files: z.array(z.string()).describe('paths below the directory, the best match first'),
    complete: z.boolean().describe('false if the directory has more files than a search looks at'),
  }),
)

const FileQuery = z.strictObject({
  cwd: z.string().min(1).max(4_096).describe('a directory below the roots of the server'),
  q: z.string().max(200).default('').describe('words that the path contains'),
  limit: integer(1, 100).default(20),
})

/** Completes names of files in prompts. It returns names alone, never contents. */
export function filesEndpoint(deps: GatewayDeps): Endpoint {
  const searches = new OneAtATime(MAX_WAITING)
  return endpoint({
    method: 'GET',
    url: '/v1/files',
    summary: 'Find files below a working directory by their names',
    query: FileQuery,
    answer: FileList,
    errors: ['forbidden', 'overloaded'],
    async run({ query: { cwd, q, limit }, principal }) {
      const directory = await workingDirectory(deps, cwd)
      const { files, complete } = await searches.run(principal, () => findFiles(directory, q, limit))
      return { files: [...files], complete }
    },
  })
}
