import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { Home, MAIN } from '../mainstem-process.ts'

const home = new Home()
afterAll(() => home[Symbol.asyncDispose]())

/** The background servers of a data directory, from the process table. */
function daemonsOf(data: string): number[] {
  return globSync('/proc/[0-9]*/cmdline').flatMap((path) => {
    const words = commandLine(path).split('\0')
    return words.includes('--background') && words.includes(data) ? [Number(path.split('/')[2])] : []
  })
}

function commandLine(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended.
    return ''
  }
}

describe('a relative path', () => {
  const config = { data: './elsewhere', agents: { claude: { command: ['/nowhere/claude'] } } }

  test.each([
    ['in --config', ['--config', 'relative.json'], {}],
    ['in --config of a command without a daemon', ['--config', 'relative.json', '--ephemeral'], {}],
    ['in MAINSTEM_CONFIG', [], { MAINSTEM_CONFIG: 'relative.json', MAINSTEM_HOME: undefined }],
    ['in MAINSTEM_HOME', [], { MAINSTEM_HOME: 'own' }],
  ])('%s is relative to the directory of the command', async (_, flags, env) => {
    await using other = new Home()
    Object.assign(other.env, env)
    mkdirSync(join(other.path, 'own'), { mode: 0o700 })
    writeFileSync(join(other.path, 'relative.json'), JSON.stringify(config))
    writeFileSync(join(other.path, 'own', 'config.json'), JSON.stringify(config))
    const { code, err } = await other.mainstem(['run', 'claude', 'hi', ...flags])
    expect(err).toContain('/nowhere/claude')
    expect(code).toBe(6)
    await other.mainstem(['daemon', 'stop', ...flags.filter((flag) => flag !== '--ephemeral')])
  })
})

test('a data directory with a long path has its socket in a private folder, and works', async () => {
  const data = join(home.path, 'long'.repeat(30))
  const args = ['--data', data]
  expect(await home.mainstem(['run', 'echo', 'hi', ...args])).toMatchObject({ code: 0, out: 'hi\n' })
  expect(daemonsOf(data)).toHaveLength(1)
  expect((await home.mainstem(['ls', ...args])).out).toContain('echo')
  expect((await home.mainstem(['daemon', 'stop', ...args])).out).toBe('stopped\n')
  expect(daemonsOf(data)).toEqual([])
})

/** Suspends a background server before it runs any of its code: later, it could have locked the data directory. */
const SUSPENDED_AT_START = encodeURI(
  "data:text/javascript,import { isMainThread } from 'node:worker_threads';" +
    "if (isMainThread && process.argv.includes('--background')) process.kill(process.pid, 'SIGSTOP')",
)

test('a daemon that another server overtook while it started does not open the store later', async () => {
  const data = join(home.path, 'raced')
  const run = (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
    spawn(process.execPath, [MAIN, ...args, '--data', data], { env: { ...home.env, ...env }, cwd: home.path })
  const command = run({ NODE_OPTIONS: `--import=${SUSPENDED_AT_START}` }, 'ls')
  const late = await suspendedDaemonOf(data)
  const winner = run({}, 'serve', '--port', '0')
  expect(await exitOf(command)).toBe(0)
  winner.kill('SIGTERM')
  await exitOf(winner)
  process.kill(late, 'SIGCONT')
  while (daemonsOf(data).length > 0) await sleep(5)
  expect(existsSync(join(data, 'daemon.sock'))).toBe(false)
})

async function suspendedDaemonOf(data: string): Promise<number> {
  for (;;) {
    const [pid] = daemonsOf(data)
    if (pid !== undefined && /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return pid
    await sleep(5)
  }
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', resolve))
}
