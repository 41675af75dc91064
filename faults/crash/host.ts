import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { newToken } from '../../src/daemon/token.ts'
import { tokenOf } from '../../src/gateway/http/auth.ts'
import { codeOf } from '../../src/model/outcome/mainstem-error.ts'
import { type Plan, planVariable } from './plan.ts'
import { type Storage, sqliteStorage } from './storage.ts'
import { type Answer, request, type Target } from './target.ts'

const FAULTS = join(import.meta.dirname, '..')
const AGENTS = ['claude', 'codex', 'gemini', 'opencode', 'pi', 'acp']
/** Two principals, so that one could see the sessions of the other. */
const PRINCIPALS = ['ada', 'bob']
const TOKENS = 'tokens.json'

/** The sources of this version. */
export const SOURCES = join(FAULTS, '..')

/** A server with failpoints, and the one that users run, which may be of another version. */
const PROGRAMS = {
  failpoints: () => ['--import', join(FAULTS, 'crash/preload.ts'), join(FAULTS, 'crash/daemon.ts')],
  serve: (main: string) => [main, 'serve'],
}

interface HostSettings {
  program: keyof typeof PROGRAMS
  drainMs: number
  /** The command line program; that of the sources by default. */
  main?: string
  /** Where it keeps its logs; in a file by default. */
  storage?: Storage
  /** A server that shares its store, its principals and the histories of its agents with this one. */
  peer?: Host
  /** Where agents work; the home directory by default. */
  cwd?: string
  /** The words before its command that make it run in another network namespace. */
  enter?: readonly string[]
  /** More of the configuration file. */
  config?: Readonly<Record<string, unknown>>
}

/** The server, over all its lives: each is a process on the same data. */
export class Host implements Target, AsyncDisposable {
  /** Where fake agents keep their histories. */
  readonly histories: string
  /** The request headers of each principal. */
  readonly principals: ReadonlyMap<string, { authorization: string }>
  readonly storage: Storage
  readonly home: string
  readonly #command: (main: string) => readonly string[]
  readonly #main: string
  /** Where programs are kept compiled: of all homes, if the environment names a place. */
  readonly #compiled: string
  readonly #errors: string[] = []
  #child: ChildProcess | undefined
  #exited: Promise<unknown> = Promise.resolve()
  #up = Promise.withResolvers<string>()
  #url: string | undefined

  static async create(home: string, settings: HostSettings): Promise<Host> {
    const headersOf = () => ({ authorization: `Bearer ${newToken()}` })
    const principals = settings.peer?.principals ?? new Map(PRINCIPALS.map((name) => [name, headersOf()]))
    // The server adds these tokens to its store when it starts.
    const tokens = [...principals].map(([name, { authorization }]) => ({
      name,
      digest: tokenOf(name, authorization.replace('Bearer ', '')).digest,
    }))
    writeFileSync(join(home, TOKENS), JSON.stringify({ tokens }), { mode: 0o600 })
    return new Host(home, settings, principals)
  }

  private constructor(
    home: string,
    {
      program,
      drainMs,
      main = join(SOURCES, 'src/cli/main.ts'),
      storage = sqliteStorage(home),
      peer,
      cwd = home,
      enter = [],
      config,
    }: HostSettings,
    principals: ReadonlyMap<string, { authorization: string }>,
  ) {
    this.home = home
    this.storage = storage
    this.#command = (main) => [...enter, process.execPath, ...PROGRAMS[program](main)]
    this.#main = main
    this.#compiled = process.env.NODE_COMPILE_CACHE ?? join(home, 'cache')
    this.principals = principals
    this.histories = peer?.histories ?? join(home, 'histories')
    mkdirSync(this.#temporary)
    mkdirSync(this.histories, { recursive: true })
    const fake = [process.execPath, join(FAULTS, 'fakes/agent.ts'), this.histories]
    const env = { NODE_COMPILE_CACHE: this.#compiled }
    const agents = Object.fromEntries(AGENTS.map((agent) => [agent, { command: [...fake, agent], env }]))
    const common = { port: 0, cwd, data: home, agents, timeouts: { drainMs } }
    writeFileSync(join(home, 'config.json'), JSON.stringify({ ...common, ...storage.settings, ...config }))
  }

  /** What it wrote to stderr. */
  get errors(): readonly string[] {
    return this.#errors
  }

  /** Where it listens, as soon as it does. */
  get url(): Promise<string> {
    return this.#up.promise
  }

  /** Where it listens; undefined while it does not. */
  get address(): string | undefined {
    return this.#url
  }

  /** True when it came up, false when it was gone before. */
  async start(plan: Plan = { passes: 0 }, main = this.#main): Promise<boolean> {
    const [program = '', ...args] = this.#command(main)
    const child = spawn(program, args, {
      env: { ...this.#env, ...planVariable(plan) },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.#exited = once(child, 'exit').then(() => {
      // Readers that wait already keep waiting.
      if (this.#url !== undefined) this.#up = Promise.withResolvers()
      this.#url = undefined
    })
    child.stderr.setEncoding('utf8').on('data', (text) => this.#errors.push(text))
    for await (const line of createInterface(child.stdout)) {
      const [url] = /http:\S+/.exec(line) ?? []
      if (url === undefined) continue
      this.#url = url
      this.#up.resolve(url)
      child.stdout.resume()
      return true
    }
    await this.#exited
    return false
  }

  /** Settles when the process is gone; true when a signal ended it. */
  async exited(): Promise<boolean> {
    await this.#exited
    return this.#child?.signalCode === 'SIGKILL'
  }

  get isGone(): boolean {
    return this.#child?.exitCode !== null || this.#child.signalCode !== null
  }

  signal(signal: 'SIGHUP' | 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal)
  }

  async call(
    route: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer | undefined> {
    return this.#url === undefined ? undefined : request(this.#url, route, body, headers)
  }

  /** Processes of agents that this server started, in any of its lives: `pid start-time command`. */
  agentProcesses(): string[] {
    return readdirSync('/proc').flatMap((pid) => {
      const environment = read(`/proc/${pid}/environ`)
      const isOurs = environment.includes('MAINSTEM_RUN=') && environment.includes(this.#temporary)
      const [state, ...rest] = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
      const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()
      return isOurs && state !== 'Z' ? [`${pid} ${rest[18]} ${command}`] : []
    })
  }

  /** Ends the server and every process of an agent that is left, so that a fault which a trial has found stays there. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGCONT')
    this.signal('SIGKILL')
    await this.#exited
    for (const one of this.agentProcesses()) kill(Number.parseInt(one, 10))
  }

  /** `mainstem restart`, with this host in place of the supervisor that starts the next process. */
  async restart(meanwhile: () => Promise<void>): Promise<void> {
    const command = spawn(process.execPath, [this.#main, 'restart'], {
      env: this.#env,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const ended = once(command, 'exit')
    await this.#exited
    await meanwhile()
    await this.start()
    const [code] = await ended
    if (code !== 0) throw new Error(`mainstem restart ended with ${code}`)
  }

  get #env(): Record<string, string | undefined> {
    return {
      PATH: process.env.PATH,
      HOME: this.home,
      TMPDIR: this.#temporary,
      MAINSTEM_CONFIG: join(this.home, 'config.json'),
      NODE_COMPILE_CACHE: this.#compiled,
    }
  }

  get #temporary(): string {
    return join(this.home, 'tmp')
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (thrown) {
    if (codeOf(thrown) !== 'ESRCH') throw thrown
  }
}

/** Empty for a process that is gone. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
