import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Plan, planVariable } from './plan.ts'

const SCRIPTS = join(import.meta.dirname, '..')

/** What a server answered. */
export interface Answer {
  status: number
  body: Record<string, unknown>
}

/** The server, over all its lives: each is a process on the same data. */
export class Host {
  readonly #home: string
  readonly #errors: string[] = []
  #child: ChildProcess | undefined
  #exited: Promise<unknown> = Promise.resolve()
  #up = Promise.withResolvers<string>()
  #url: string | undefined

  constructor(home: string) {
    this.#home = home
    mkdirSync(this.#temporary)
    const agents = { claude: { command: [process.execPath, join(SCRIPTS, 'crash/agent.mjs')] } }
    const config = { port: 0, auth: false, cwd: home, data: home, agents, timeouts: { drainMs: 50 } }
    writeFileSync(join(home, 'config.json'), JSON.stringify(config))
  }

  get database(): string {
    return join(this.#home, 'log/mainstem.db')
  }

  /** What it had to say on stderr. */
  get errors(): readonly string[] {
    return this.#errors
  }

  /** Where it listens, as soon as it does. */
  get url(): Promise<string> {
    return this.#up.promise
  }

  /** True when it came up, false when it was gone before. */
  async start(plan: Plan): Promise<boolean> {
    const args = ['--import', join(SCRIPTS, 'crash-preload.ts'), join(SCRIPTS, 'crash-daemon.ts')]
    const child = spawn(process.execPath, args, {
      env: {
        PATH: process.env.PATH,
        TMPDIR: this.#temporary,
        MAINSTEM_CONFIG: join(this.#home, 'config.json'),
        NODE_COMPILE_CACHE: join(this.#home, 'cache'),
        ...planVariable(plan),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.#exited = once(child, 'exit').then(() => {
      // Whoever waits already goes on waiting.
      if (this.#url !== undefined) this.#up = Promise.withResolvers()
      this.#url = undefined
    })
    child.stderr.setEncoding('utf8').on('data', (text) => this.#errors.push(text))
    for await (const url of createInterface(child.stdout)) {
      this.#url = url
      this.#up.resolve(url)
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

  signal(signal: 'SIGKILL' | 'SIGTERM'): void {
    this.#child?.kill(signal)
  }

  /** Nothing when the server is down or the connection broke: whether it was done is not known then. */
  async call(
    route: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer | undefined> {
    const [method = '', path = ''] = route.split(' ')
    if (this.#url === undefined) return undefined
    try {
      const response = await fetch(this.#url + path, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: JSON.parse((await response.text()) || '{}') }
    } catch {
      return undefined
    }
  }

  /** Processes of agents that this server started, in any of its lives: `pid start-time`. */
  agentProcesses(): string[] {
    return readdirSync('/proc').flatMap((pid) => {
      const environment = read(`/proc/${pid}/environ`)
      const isOurs = environment.includes('MAINSTEM_RUN=') && environment.includes(this.#temporary)
      const [state, ...rest] = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
      return isOurs && state !== 'Z' ? [`${pid} ${rest[18]}`] : []
    })
  }

  get #temporary(): string {
    return join(this.#home, 'tmp')
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
