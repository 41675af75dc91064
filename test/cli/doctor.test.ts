import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { agentChecks } from '../../src/cli/doctor/agents.ts'
import { checkNode, diskCheck } from '../../src/cli/doctor/machine.ts'
import type { AgentReadiness } from '../../src/compose/readiness.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { database, entries, sessionId, state } from '../stores/sqlite-parts.ts'
import { Home } from './mainstem-process.ts'

const home = new Home()
afterAll(() => home[Symbol.asyncDispose]())
const data = join(home.path, 'data')
const doctor = (...args: string[]) => home.mainstem(['doctor', ...args])

const PATIENT = { timeout: 60_000 }

describe('doctor', PATIENT, () => {
  test('finds nothing wrong before the first use, and creates nothing', async () => {
    const { code, out } = await doctor()
    expect(out).toContain(`✔ data       ${data} does not exist yet`)
    expect(out).toMatch(/✔ disk +[\d.]+ GB of [\d.]+ GB free/)
    expect(out).toContain('✔ daemon     not running; the next command starts it')
    expect(out).toContain('✔ store      no sessions yet')
    expect(out).toMatch(/no problems found\n$/)
    expect(code).toBe(0)
    expect(existsSync(data)).toBe(false)
  })

  test('shows the daemon that runs, and the same for programs', async () => {
    await home.mainstem(['run', 'echo', 'hi'])
    const { checks, problems, agents, store } = JSON.parse((await doctor('--json')).out)
    expect(problems).toBe(0)
    const daemon = { name: 'daemon', health: 'ok', text: expect.stringMatching(/^version .+, process \d+$/) }
    expect(checks).toContainEqual(daemon)
    expect(agents).toContainEqual(expect.objectContaining({ id: 'echo', state: 'built_in' }))
    expect(store).toMatchObject({ sessions: 1, damage: [] })
  })

  test('names a port that is taken, which is no problem for other commands', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const address = taken.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const config = join(home.path, 'port.json')
    writeFileSync(config, JSON.stringify({ port }))
    const { code, out } = await doctor('--config', config)
    taken.close()
    expect(out).toContain(`! port ${port}`)
    expect(out).toContain('fix: mainstem serve --port 0')
    expect(code).toBe(0)
  })

  test('refuses a configuration with which no server starts, and so does the next command', async () => {
    const config = join(home.path, 'roots.json')
    const missing = join(home.path, 'missing')
    writeFileSync(config, JSON.stringify({ roots: [missing] }))
    const { code, out } = await doctor('--config', config)
    expect(out).toContain(`✖ config     configuration: roots: no such directory ${missing}`)
    expect(out).toContain('✔ data')
    expect(code).toBe(1)
    const listed = await home.mainstem(['ls', '--config', config, '--data', join(home.path, 'rootless')])
    expect(listed.err).toContain(`no such directory ${missing} (invalid_request)`)
    expect(listed.code).toBe(2)
  })

  test('names the command that closes a data directory or a token to other users', async () => {
    const open = join(home.path, 'open')
    mkdirSync(open, { mode: 0o700 })
    const token = join(open, 'token')
    writeFileSync(token, 'x', { mode: 0o644 })
    const { code, out } = await doctor('--data', open)
    expect(out).toContain(`✖ data       ${token} is open to other users`)
    expect(out).toContain(`fix: chmod 600 ${token}`)
    expect(code).toBe(1)
    chmodSync(open, 0o777)
    expect((await doctor('--data', open)).out).toContain(`fix: chmod 700 ${open}`)
  })

  test('names the owner of a data directory that belongs to another user', async () => {
    const foreign = join(home.path, 'foreign')
    mkdirSync(foreign, { mode: 0o700 })
    const us = process.getuid?.()
    // Only root can give a directory away, and everybody else finds one of root.
    if (us === 0) chownSync(foreign, 65_534, 65_534)
    const [path, owner] = us === 0 ? [foreign, 65_534] : ['/usr', 0]
    const { code, out } = await doctor('--data', path)
    expect(out).toContain(`✖ data       ${path} belongs to another user (${owner})`)
    expect(out).toContain(`fix: sudo chown -R ${us} ${path}`)
    expect(code).toBe(1)
  })

  test('names the daemon of another version, and the command that replaces it', async () => {
    const other = join(home.path, 'other')
    mkdirSync(other, { mode: 0o700 })
    const process = spawn('sleep', ['600'])
    const info = { version: '0.0.1', pid: process.pid, principal: 'local', authentication: true }
    const server = createHttpServer((_, response) => response.end(JSON.stringify(info)))
    await once(server.listen(join(other, 'daemon.sock')), 'listening')
    const { code, out } = await doctor('--data', other)
    const refused = await home.mainstem(['ls', '--data', other])
    const stopped = await home.mainstem(['daemon', 'stop', '--data', other])
    server.close()
    expect(out).toMatch(/✖ daemon {5}process \d+ has version 0\.0\.1, and this is version/)
    expect(out).toContain('fix: mainstem restart')
    expect(code).toBe(1)
    expect(refused.err).toContain('the daemon has version 0.0.1, and this is version')
    expect(refused.err).toContain('Run `mainstem restart` and repeat the command. Running turns continue.')
    expect({ stopped: stopped.out, signal: process.signalCode }).toEqual({
      stopped: 'stopped\n',
      signal: 'SIGTERM',
    })
  })

  test('names the line of a configuration that is wrong', async () => {
    const config = join(home.path, 'wrong.json')
    writeFileSync(config, '{\n  "timeouts": {\n    "drainMs": "soon"\n  }\n}')
    const { code, out } = await doctor('--config', config)
    expect(out.replace(/\n\s+/g, ' ')).toContain(`configuration (${config}, line 3): timeouts.drainMs: `)
    expect(code).toBe(1)
  })

  test('names the session, the entries and the file that are damaged, and rm removes it', async () => {
    await home.mainstem(['daemon', 'stop'])
    const directory = join(data, 'log')
    const id = sessionId(1)
    {
      await using store = await sqliteStore({ directory })
      await store.create(id, { entries: entries(id, 1, 4), record: state(id) })
    }
    const db = database(directory)
    db.exec("UPDATE log SET body = replace(body, 'stdout', 'stdouu')")
    db.close()
    const { code, out } = await doctor()
    expect(code).toBe(1)
    expect(out).toContain(
      `damaged: the log of session ${id}, entries 1 to 4 (${join(directory, 'mainstem.db')})`,
    )
    expect(out).toContain(`fix: Restore a backup, or: mainstem rm ${id}`)
    expect(JSON.parse((await doctor('--json')).out).store.damage).toMatchObject([
      { session: id, first: 1, last: 4 },
    ])
    expect((await home.mainstem(['rm', id])).code).toBe(0)
    expect((await doctor()).code).toBe(0)
  })
})

test('a Node that is too old is a problem', () => {
  expect([checkNode('20.1.0').health, checkNode('22.13.0').health]).toEqual(['problem', 'ok'])
})

test.each([
  ['ok', 30, '30.0 GB of 100.0 GB free'],
  ['warning', 0.5, '0.5 GB of 100.0 GB free'],
  ['problem', 0.05, '51.2 MB of 100.0 GB free'],
])('free space is %s with %d GB', (health, free, text) => {
  const bsize = 4096
  const blocks = (gigabytes: number) => (gigabytes * 1024 ** 3) / bsize
  const found = diskCheck('/data', { bavail: blocks(free), bsize, blocks: blocks(100) })
  expect(found).toMatchObject({ health, text })
  expect(found.fix === undefined).toBe(health === 'ok')
})

test('agents have version, login and the command that fixes them', () => {
  const agent: AgentReadiness = { id: 'one', name: 'One', state: 'ready', launches: {}, credentials: [] }
  const found = agentChecks([
    {
      ...agent,
      version: '1.2.0',
      testedVersion: '1.1.0',
      fit: 'newer',
      credentials: [{ variable: 'ONE_KEY' }],
    },
    { ...agent, id: 'two', state: 'needs_login', fix: 'two login' },
    { ...agent, id: 'three', state: 'broken', note: 'exit code 1', fix: 'npm install -g three' },
    { ...agent, id: 'four', state: 'missing' },
  ])
  expect(found).toEqual([
    { name: 'one', health: 'ok', text: '1.2.0, newer than the tested 1.1.0 · login in ONE_KEY' },
    { name: 'two', health: 'warning', text: 'version unknown · not logged in', fix: 'two login' },
    { name: 'three', health: 'problem', text: 'does not run: exit code 1', fix: 'npm install -g three' },
    { name: 'agents', health: 'ok', text: '1 others are not installed; see mainstem agents' },
  ])
})
