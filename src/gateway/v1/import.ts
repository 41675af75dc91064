import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import * as z from 'zod'
import { damage, type ExportLine } from '../../imports/export-check.ts'
import type { NumberedLine } from '../../imports/imports.ts'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { isOperator } from '../http/auth.ts'
import { checkValueCount } from '../http/body/json.ts'
import { readLines } from '../http/body/read-body.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { checkReady } from '../http/health.ts'
import { named } from '../http/openapi/components.ts'
import { NDJSON } from '../streams/format.ts'
import { ExportLineJson } from './export-line.ts'

/** The longest line that is accepted. Lines are held in memory one at a time. */
const LINE_BYTES = 64 * 1024 * 1024

const ImportedSession = named(
  'ImportedSession',
  z.strictObject({
    id: z.string(),
    entries: z.int().describe('entries of the export'),
    isNew: z.boolean().describe('false if the session was there already, and nothing was changed'),
  }),
)

/** Imports an exported session as an ended one. The body is read line by line. */
export function importEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'POST',
    url: '/v1/sessions/import',
    summary: 'Import an exported session, as an ended one',
    streamed: { type: NDJSON.type, line: ExportLineJson },
    answer: ImportedSession,
    errors: ['conflict', 'overloaded'],
    async run({ principal, roles, actor, request, reply }) {
      checkReady(deps)
      const { body } = request
      if (!(body instanceof Readable))
        throw new MainstemError('unsupported_media', `send the export as ${NDJSON.type}`)
      const upload = deps.uploads.enter({ principal, address: request.ip }, 'import')
      try {
        const lines = exportLines(readLines(body, { limit: LINE_BYTES, upload }))
        const imported = await deps.imports.import(
          {
            principal,
            keepsIds: isOperator({ roles }),
            fact: (session) => deps.sessions.audit.factOf('session.imported', actor, { session }),
          },
          lines,
        )
        reply.header('location', `/v1/sessions/${imported.id}`)
        return imported
      } finally {
        upload.leave()
      }
    },
  })
}

/** Parses and validates the lines of an export, and compares them with the checksum at their end. */
export async function* exportLines(lines: AsyncIterable<Buffer>): AsyncGenerator<NumberedLine> {
  const hash = createHash('sha256')
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  let line = 0
  let isEnded = false
  for await (const raw of lines) {
    line++
    // Keepalives of a slow export.
    if (raw.length === 0) continue
    if (isEnded) throw damage('lines follow the end', line)
    const value = parsed(utf8, raw, line)
    isEnded = 'end' in value
    if ('end' in value && value.end.sha256 !== hash.digest('hex'))
      throw damage('the lines before do not match the checksum', line)
    if (!('end' in value)) hash.update(raw).update('\n')
    yield { line, size: raw.length, value: 'blob' in value ? withBytes(value) : value }
  }
}

function withBytes({ blob }: Extract<ExportLineJson, { blob: object }>): ExportLine {
  return { blob: { ...blob, data: Buffer.from(blob.data, 'base64') } }
}

function parsed(utf8: TextDecoder, raw: Buffer, line: number): ExportLineJson {
  let value: unknown
  checkValueCount(raw, `line ${line}`)
  try {
    value = JSON.parse(utf8.decode(raw))
  } catch {
    // Without the parser's message, which quotes the line.
    throw damage('not valid JSON', line)
  }
  if (isExportLine(value)) return value
  const { error } = ExportLineJson.safeParse(value)
  const [issue] = error?.issues ?? []
  throw damage(`not a line of an export: ${issue?.path.join('.') || 'line'}: ${issue?.message}`, line)
}

/** The line itself, and not a copy of the schema, whose fields would be in another order. */
function isExportLine(value: unknown): value is ExportLineJson {
  return ExportLineJson.safeParse(value).success
}
