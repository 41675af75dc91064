import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import { MAIN } from '../built-program.ts'
import { newDatabase } from '../postgres/database.ts'

const home = realpathSync(mkdtempSync(join(tmpdir(), 'token-')))
afterAll(() => rmSync(home, { recursive: true }))

const run = promisify(execFile)
const { PATH, NODE_COMPILE_CACHE } = process.env
const environment = { PATH, NODE_COMPILE_CACHE, MAINSTEM_HOME: home }
const mainstem = (...args: string[]) => run(process.execPath, [MAIN, ...args], { env: environment })
const token = (...args: string[]) => mainstem('token', ...args)
const grant = (...args: string[]) => mainstem('grant', ...args)

test('a token by name is a principal of a server that is running, until it is removed', {
  timeout: 60_000,
}, async () => {
  const config = await loadConfig({ flags: { port: 0, cwd: home }, environment, cwd: home })
  const reported: unknown[] = []
  const server = await serve({ config, report: (thrown) => reported.push(thrown) })
  try {
    const ask = (bearer: string, init: RequestInit = {}) =>
      fetch(`${server.url}/v1/sessions`, {
        ...init,
        headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      })
    const first = readFileSync(join(home, 'token'), 'utf8').trim()
    const added = (await token('add', 'ci')).stdout.trim()
    expect((await token('list')).stdout).toBe('local\nci\n')
    const created = await ask(added, { method: 'POST', body: '{"agent":"echo"}' })
    expect(created.status).toBe(201)
    expect(await (await ask(added)).json()).toMatchObject({ sessions: [{ principal: 'ci', agent: 'echo' }] })
    expect(await (await ask(first)).json()).toEqual({ sessions: [] })
    const bot = (await token('add', 'bot')).stdout.trim()
    expect((await grant('add', 'bot', 'ci')).stdout).toBe(
      'bot may now read the sessions of ci and answer their requests\n',
    )
    expect((await grant('list')).stdout).toBe('bot ci\n')
    expect(JSON.parse((await grant('list', 'bot', '--json')).stdout)).toMatchObject([{ to: 'bot', of: 'ci' }])
    expect(await (await ask(bot)).json()).toMatchObject({ sessions: [{ principal: 'ci' }] })
    expect((await grant('remove', 'bot', 'ci')).stdout).toContain('may no longer')
    expect(await (await ask(bot)).json()).toEqual({ sessions: [] })
    await token('remove', 'ci')
    expect((await ask(added)).status).toBe(401)
    expect((await ask(first)).status).toBe(200)
  } finally {
    await server.stop()
  }
  expect(reported).toEqual([])
})

test('without a server, its store is changed, and the next server knows', { timeout: 60_000 }, async () => {
  const added = (await token('add', 'dee')).stdout.trim()
  await token('add', 'eve')
  await grant('add', 'eve', 'dee')
  await token('remove', 'eve')
  expect((await token('list')).stdout).toBe('local\nbot\ndee\n')
  expect((await grant('list')).stdout).toBe('eve dee\n')
  const config = await loadConfig({ flags: { port: 0, cwd: home }, environment, cwd: home })
  const server = await serve({ config, report: (thrown) => console.error(thrown) })
  const headers = { authorization: `Bearer ${added}` }
  expect((await fetch(`${server.url}/v1/server`, { headers })).status).toBe(200)
  await server.stop()
})

test('tokens of a server with a database and no unix socket are added there, and not to a file', {
  timeout: 60_000,
}, async () => {
  const data = join(home, 'with-database')
  const flags = { port: 0, cwd: home, data }
  const config = await loadConfig({ flags, environment, cwd: home })
  const store = { ...config.store, url: await newDatabase() }
  const server = await serve({ config: { ...config, store }, report: (thrown) => console.error(thrown) })
  try {
    const added = (await token('add', 'gus', '--data', data)).stdout.trim()
    await token('add', 'hal', '--data', data)
    await grant('add', 'gus', 'hal', '--data', data)
    const headers = { authorization: `Bearer ${added}` }
    expect((await fetch(`${server.url}/v1/server`, { headers })).status).toBe(200)
    expect((await grant('list', '--data', data)).stdout).toBe('gus hal\n')
    expect(existsSync(join(data, 'log'))).toBe(false)
  } finally {
    await server.stop()
  }
})

test('a server that keeps nothing has no tokens to change', { timeout: 60_000 }, async () => {
  const file = join(home, 'none.json')
  writeFileSync(file, JSON.stringify({ durability: 'none' }))
  const refused = token('add', 'fay', '--config', file)
  await expect(refused).rejects.toMatchObject({ stderr: expect.stringContaining('keeps no tokens') })
})

test.each([
  [['add'], 2, 'give a name'],
  [['add', 'Not A Name'], 2, 'lower-case letters'],
  [['remove', 'nobody'], 4, 'no token nobody'],
  [['remove', 'local'], 2, 'is the first token'],
  [['steal', 'ci'], 2, 'Allowed choices are add, list, remove'],
])('token %j is refused', { timeout: 30_000 }, async (args, code, message) => {
  const refused = token(...args)
  await expect(refused).rejects.toMatchObject({ code, stderr: expect.stringContaining(message) })
})
