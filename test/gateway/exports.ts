import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { memoryStore } from '../../src/stores/memory.ts'
import { postgresStore } from '../../src/stores/postgres.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { newSchema } from '../postgres/database.ts'
import { fetchFrom } from './api.ts'
import { type TestGateway, TOKEN } from './start.ts'

const folder = mkdtempSync(join(tmpdir(), 'import-'))
afterAll(() => rmSync(folder, { recursive: true }))
let stores = 0

/** An empty store of each kind. */
export const STORES: readonly [string, () => Promise<Store>][] = [
  ['memory', async () => memoryStore()],
  ['sqlite', () => sqliteStore({ directory: join(folder, String(++stores)) })],
  ['postgres', async () => postgresStore({ url: await newSchema() })],
]

export const TYPE = { 'content-type': 'application/x-ndjson' }

export async function exportOf(server: TestGateway, id: string, token = TOKEN): Promise<string> {
  return (await fetchFrom(server, `GET /v1/sessions/${id}/export`, { token })).text()
}

interface Answer {
  status: number
  body: { id: string; entries: number; isNew: boolean; code: string; detail: string }
}

export async function importInto(
  server: TestGateway,
  body: string | ReadableStream,
  token = TOKEN,
): Promise<Answer> {
  const headers = { ...TYPE, authorization: `Bearer ${token}` }
  const response = await fetch(`${server.url}/v1/sessions/import`, {
    method: 'POST',
    headers,
    body,
    duplex: 'half',
  })
  const answer: Answer['body'] = JSON.parse(await response.text())
  return { status: response.status, body: answer }
}

/** Changes the lines of an export, and gives it the checksum that fits. */
export function forgedExport(exported: string, change: (line: Record<string, unknown>) => object): string {
  const lines = linesOf(exported)
  const end = JSON.parse(lines.pop() ?? '')
  const body = lines.map((line) => `${JSON.stringify(change(JSON.parse(line)))}\n`).join('')
  end.end.sha256 = createHash('sha256').update(body).digest('hex')
  return `${body}${JSON.stringify(end)}\n`
}

export const linesOf = (exported: string) => exported.trimEnd().split('\n')
