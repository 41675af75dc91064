import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/daemon/config.ts'
import { examine } from '../../src/daemon/doctor.ts'
import { serve } from '../../src/daemon/serve.ts'
import { Home, MAIN } from '../cli/mainstem-process.ts'
import { newSchema, query } from '../postgres/database.ts'

let home: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'on-postgres-')))
})
afterEach(() => rmSync(home, { recursive: true }))

async function start(store: object, more: object = {}) {
  const file = join(home, 'config.json')
  writeFileSync(file, JSON.stringify({ store, ...more }))
  const flags = { port: 0, data: home, cwd: home, config: file }
  const config = await loadConfig({ flags, environment: { MAINSTEM_HOME: home }, cwd: home })
  const server = await serve({ config, report: () => undefined })
  const headers = { authorization: `Bearer ${server.tokenFile?.token}`, 'content-type': 'application/json' }
  const ask = (path: string, body?: object) =>
    fetch(server.url + path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
  return { server, ask }
}

test('a server keeps its sessions in the database, over its restarts', async () => {
  const url = await newSchema()
  const first = await start({ url })
  const password = decodeURIComponent(new URL(url).password)
  const created = await first.ask('/v1/sessions', { agent: 'echo', prompt: `it is ${password}` })
  const { id } = (await created.json()) as { id: string }
  const exported = async (ask: typeof first.ask) => (await ask(`/v1/sessions/${id}/export`)).text()
  await expect.poll(() => exported(first.ask)).toContain('turn.completed')
  const text = await exported(first.ask)
  expect(text).toContain(`it is [masked ${password.length}]`)
  await expect(start({ url })).rejects.toMatchObject({ details: { locked: true } })
  await first.server.stop()
  const second = await start({ url })
  expect(await exported(second.ask)).toBe(text)
  await second.server.stop()
  expect(await examine({ data: home, store: { url } })).toMatchObject({ sessions: 1, damage: [] })
  await query(url, "UPDATE @log SET body = replace(body, 'masked', 'marked') WHERE body LIKE '%masked%'")
  const report = await examine({ data: home, store: { url } })
  expect(report?.damage[0]).toMatchObject({ session: id })
})

test('a database beside settings of a file is refused', async () => {
  const url = await newSchema()
  await expect(start({ url }, { durability: 'none' })).rejects.toThrow('durability is none')
  await expect(start({ url }, { maxBytes: 1 })).rejects.toThrow('maxBytes limits a store in a file')
  await expect(start({ url: 'mysql://user:secret@host/db' })).rejects.toThrow(/^(?!.*secret).*store\.url/)
})

test.runIf(process.platform === 'linux')(
  'the password of --store is not among the arguments that others see',
  async () => {
    const url = await newSchema()
    const child = spawn(process.execPath, [MAIN, 'serve', '--store', url, '--port', '0', '--data', home], {
      env: { PATH: process.env.PATH, HOME: home },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const line of createInterface(child.stdout)) if (line.startsWith('listening')) break
    const seen = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')
    child.kill()
    await once(child, 'exit')
    expect(seen).not.toContain(new URL(url).password)
  },
)

test('a wrong URL is one sentence on the command line', async () => {
  await using cli = new Home()
  const ran = await cli.mainstem(['serve', '--store', 'postgres://user:secret@127.0.0.1:1/db'])
  expect(ran.code).not.toBe(0)
  expect(ran.err).toContain('PostgreSQL at 127.0.0.1:1/db cannot be reached')
  expect(ran.err).not.toContain('secret')
})
