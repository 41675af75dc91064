import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { testPrograms } from '../programs/programs.ts'
import { type PostgresServer, startPostgres } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A socket that answers each connection with the server of this run: its URL and the folder of its programs. */
    postgresSocket: string
  }
}

/** One PostgreSQL for all test files of a run, started when the first of them asks for it. */
export default async function setUp({ provide }: TestProject): Promise<() => Promise<void>> {
  // Before the tests, because none of them should wait for npm.
  await testPrograms()
  let started: Promise<PostgresServer> | undefined
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-tests-'))
  const path = join(folder, 'socket')
  const questions = createServer((socket) => {
    started ??= startPostgres()
    started.then(
      ({ url, bin }) => socket.end(JSON.stringify({ url, bin })),
      (thrown) => socket.end(JSON.stringify({ error: String(thrown) })),
    )
    // A worker that ends while it waits needs no answer.
    socket.on('error', () => socket.destroy())
  }).listen(path)
  await once(questions, 'listening')
  provide('postgresSocket', path)
  return async () => {
    questions.close()
    const server = await started?.catch(() => undefined)
    await server?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  }
}
