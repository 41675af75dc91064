import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { database, entries, sessionId, state } from '../stores/sqlite-parts.ts'

const run = promisify(execFile)
const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const data = mkdtempSync(join(tmpdir(), 'doctor-'))
afterAll(() => rmSync(data, { recursive: true }))

const doctor = (...args: string[]) =>
  run(process.execPath, [MAIN, 'doctor', '--data', data, ...args]).catch((thrown) => thrown)

test('doctor names the session, the entries and the file that are damaged, and fails', {
  timeout: 30_000,
}, async () => {
  const directory = join(data, 'log')
  const id = sessionId(1)
  {
    await using store = await sqliteStore({ directory })
    await store.create(id, { entries: entries(id, 1, 4), record: state(id) })
  }
  expect((await doctor()).stdout).toContain('no damage found')
  const db = database(directory)
  db.exec("UPDATE log SET body = replace(body, 'stdout', 'stdouu')")
  db.close()
  const { code, stdout } = await doctor()
  expect(code).toBe(1)
  expect(stdout).toContain(
    `damaged: the log of session ${id}, entries 1 to 4 (${join(directory, 'mainstem.db')})\n1 damaged: restore a backup\n`,
  )
  expect(stdout).toContain(`curl -X DELETE -H "Authorization: Bearer $TOKEN" $URL/v1/sessions/${id}\n`)
  expect(JSON.parse((await doctor('--json')).stdout).damage).toMatchObject([
    { session: id, first: 1, last: 4 },
  ])
})
