import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Home, MAIN } from './mainstem-process.ts'

const AGENT = join(import.meta.dirname, '../fake-agents/paused-claude.mjs')
const home = new Home()
afterAll(() => home[Symbol.asyncDispose]())

const FREE = ['--approval', 'auto-all', '--sandbox', 'full-access']
const REFUSED = { code: 1, err: expect.stringContaining('storage_failed') }

/** Bounds the files that a process may write, like a disk without space. */
const limitFiles = (pid: number, bytes: number | 'unlimited') =>
  execFileSync('prlimit', ['--pid', `${pid}`, `--fsize=${bytes}:`])

test('every command tells that the disk is full, and the session continues when there is space', async () => {
  const go = join(home.path, 'signal', 'go')
  mkdirSync(join(home.path, 'signal'))
  mkdirSync(home.data, { mode: 0o700 })
  const agents = { claude: { command: [process.execPath, AGENT, go] } }
  writeFileSync(join(home.data, 'config.json'), JSON.stringify({ agents }))
  const running = spawn(process.execPath, [MAIN, 'run', 'claude', 'go', ...FREE], {
    env: home.env,
    cwd: home.path,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { out: '', err: '' }
  running.stdout.on('data', (chunk) => {
    printed.out += chunk
  })
  running.stderr.on('data', (chunk) => {
    printed.err += chunk
  })
  await expect.poll(() => printed.out + printed.err).toContain('before')
  const { id } = JSON.parse((await home.mainstem(['ls', '--json'])).out)
  const daemon = await home.daemonPid()

  limitFiles(daemon, 1)
  const ended = once(running, 'close')
  writeFileSync(go, '')
  expect((await ended)[0]).toBe(1)
  expect(printed.err).toContain('storage_failed')
  expect((await home.mainstem(['ls'])).out).toContain('storage failed')
  const warnings = async () => (await home.mainstem(['ls'])).err
  await expect.poll(warnings, { timeout: 20_000 }).toMatch(/^warning: since .*the store is not writable/)
  for (const command of [
    ['stop', id],
    ['attach', id],
    ['wait', id],
    ['send', id, 'x'],
    ['run', 'claude', 'x', ...FREE],
  ])
    expect(await home.mainstem(command), command.join(' ')).toMatchObject(REFUSED)

  expect(await home.daemonPid(), 'the daemon survives').toBe(daemon)
  limitFiles(daemon, 'unlimited')
  expect(await home.mainstem(['send', id, 'more'])).toMatchObject({ code: 0 })
  expect((await home.mainstem(['ls'])).out).not.toContain('storage failed')
  await expect.poll(warnings, { timeout: 20_000 }).toBe('')
  expect((await home.mainstem(['logs', id])).out).toMatch(/before.*storage_failed.*more.*after, still as/s)
})
