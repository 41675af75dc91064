import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MAIN } from '../built-program.ts'
import { isAlive, killLeft } from '../drivers/fake-run.ts'

const ROOT = join(import.meta.dirname, '../..')
const AGENT = join(ROOT, 'test/fake-agents/with-tool.mjs')
const SWEEP = join(ROOT, 'src/drivers/tree/orphan-sweep.ts')
const PROMISED_S = 10

interface Pids {
  agent: number
  tool: number
  folder: string
}

let home = ''
let owner: ChildProcess | undefined
let clock: ChildProcess | undefined
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'orphans-')))
  mkdirSync(join(home, 'tmp'))
  const agents = { claude: { command: [process.execPath, AGENT, join(home, 'pids')] } }
  writeFileSync(
    join(home, 'config.json'),
    JSON.stringify({ port: 0, cwd: home, auth: false, agents, timeouts: { orphanMs: 500 } }),
  )
})
afterEach(async () => {
  if (owner?.exitCode === null && owner.signalCode === null) {
    owner.kill('SIGKILL')
    await once(owner, 'exit')
  }
  if (clock?.pid !== undefined && isAlive(clock.pid)) process.kill(-clock.pid, 'SIGKILL')
  clock = undefined
  // A test that failed must leave nothing.
  if (existsSync(join(home, 'pids'))) {
    const { agent, tool } = await pids()
    killLeft([agent, tool].filter(isAlive))
  }
  rmSync(home, { recursive: true, maxRetries: 3 })
})

function start(args: readonly string[]): ChildProcess {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  owner = spawn(process.execPath, args, {
    cwd: home,
    env: { PATH, NODE_COMPILE_CACHE, MAINSTEM_HOME: home, TMPDIR: join(home, 'tmp') },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return owner
}

async function startServer(): Promise<ChildProcess> {
  const server = start([MAIN, 'serve'])
  if (!server.stdout) throw new Error('stdout is a pipe')
  for await (const line of createInterface(server.stdout)) {
    const [url] = /http:\S+/.exec(line) ?? []
    const body = JSON.stringify({ idempotency_key: 'k', task: 'hi', driver: 'claude' })
    const headers = { 'content-type': 'application/json' }
    if (url !== undefined) await fetch(`${url}/v1/execute`, { method: 'POST', headers, body })
    break
  }
  return server
}

function startLibrary(): ChildProcess {
  const script = `
    import { mainstem } from ${JSON.stringify(join(ROOT, 'src/index.ts'))}
    const { agents } = ${readFileSync(join(home, 'config.json'), 'utf8')}
    const session = await mainstem({ agents }).session({ agent: 'claude', launch: 'oneshot', cwd: '/' })
    await session.prompt('hi')`
  return start(['--input-type=module', '--eval', script])
}

/**
 * Ends after the promised time and the start of a program that ends orphans, so that both get as little of a busy
 * processor.
 */
function startClock(): ChildProcess {
  const script = `sleep ${PROMISED_S}; "$0" "$1" 0`
  clock = spawn('/bin/sh', ['-c', script, process.execPath, SWEEP], {
    env: { PATH: process.env.PATH, TMPDIR: home },
    detached: true,
    stdio: 'ignore',
  })
  return clock
}

async function pids(): Promise<Pids> {
  await expect.poll(() => existsSync(join(home, 'pids')), { timeout: 30_000 }).toBe(true)
  return JSON.parse(readFileSync(join(home, 'pids'), 'utf8'))
}

test('the start of a server ends a tool that outlived an earlier run of one of its sessions', async () => {
  const first = await startServer()
  const { agent } = await pids()
  const run = /MAINSTEM_RUN=([^\0]+)/.exec(readFileSync(`/proc/${agent}/environ`, 'latin1'))?.[1]
  // The run before this one: neither the guard nor a record of the session names it.
  const env = { MAINSTEM_RUN: run?.replace(/\.1$/, '.0') }
  const escaped = spawn('/bin/sleep', ['600'], { env, detached: true, stdio: 'ignore' })
  try {
    first.kill('SIGKILL')
    await once(first, 'exit')
    const second = start([MAIN, 'serve'])
    if (!second.stdout) throw new Error('stdout is a pipe')
    for await (const line of createInterface(second.stdout)) if (/http:/.test(line)) break
    expect(isAlive(escaped.pid)).toBe(false)
  } finally {
    escaped.kill('SIGKILL')
  }
}, 60_000)

test.each([
  ['a server', startServer],
  ['a run', () => start([MAIN, 'run', '--ephemeral', 'claude', 'hi'])],
  ['a program with the library', startLibrary],
])(
  'kill -9 of %s ends its agent, the tools of the agent and their folder',
  async (_, begin) => {
    const killed = await begin()
    const { agent, tool, folder } = await pids()
    expect([isAlive(agent), isAlive(tool), existsSync(folder)]).toEqual([true, true, true])
    const { pid } = startClock()
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    const left = () => [isAlive(agent), isAlive(tool), ...readdirSync(join(home, 'tmp'))]
    await expect.poll(left, { timeout: 60_000 }).toEqual([false, false])
    expect(isAlive(pid), `within ${PROMISED_S} s`).toBe(true)
  },
  120_000,
)
