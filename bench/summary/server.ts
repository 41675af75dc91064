import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Processor time of a server, by thread, and how often its threads went to sleep. */
export interface Used {
  ms: number
  main: number
  writer: number
  search: number
  waits: number
}

const THREADS_OF_NODE = /^(?:node-|libuv-|Delayed|Signal)/
const AGENT = join(import.meta.dirname, 'agent.pl')

/** `mainstem serve` of a built checkout, with agents that write `rate` events a second for `seconds`. */
export class Server implements AsyncDisposable {
  readonly url: string
  readonly #folder: string
  readonly #child: ChildProcess

  private constructor(url: string, folder: string, child: ChildProcess) {
    this.url = url
    this.#folder = folder
    this.#child = child
  }

  static async start(checkout: string, { rate = 1, seconds = 1 } = {}): Promise<Server> {
    const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
    mkdirSync(join(folder, 'data'))
    const config = join(folder, 'config.json')
    const agents = {
      claude: { command: ['perl', AGENT, String(rate), String(seconds)] },
      codex: { command: ['sh', join(import.meta.dirname, 'five-lines.sh')] },
    }
    const limits = { streams: 2_000, connections: 2_000, processes: 600 }
    writeFileSync(config, JSON.stringify({ agents, limits }))
    const main = join(checkout, 'dist/cli/main.js')
    const where = ['--port', '0', '--no-auth', '--data', join(folder, 'data'), '--config', config]
    const child = spawn(process.execPath, [main, 'serve', ...where], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH, HOME: folder },
    })
    const [line] = await once(createInterface(child.stdout), 'line')
    const url = /http:\/\/[^\s/]+/.exec(String(line))?.[0]
    if (url === undefined) throw new Error(`no address in ${line}`)
    return new Server(url, folder, child)
  }

  async call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(this.url + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    return text === '' ? {} : JSON.parse(text)
  }

  /** Creates a session of an agent and returns its path. */
  async session(body: object): Promise<string> {
    const { id } = await this.call('POST', '/v1/sessions', body)
    return `/v1/sessions/${id}`
  }

  used(): Used {
    const used: Used = { ms: 0, main: 0, writer: 0, search: 0, waits: 0 }
    const tasks = `/proc/${this.#child.pid}/task`
    const read = (task: string, file: string) => readFileSync(`${tasks}/${task}/${file}`, 'utf8')
    const workers: (keyof Used)[] = ['writer', 'search']
    for (const task of readdirSync(tasks)) {
      const ms = Number(read(task, 'schedstat').split(' ')[0]) / 1e6
      used.ms += ms
      used.waits += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(read(task, 'status'))?.[1])
      if (task === String(this.#child.pid)) used.main = ms
      // The store starts its threads in this order, and no other thread runs JavaScript.
      else if (!THREADS_OF_NODE.test(read(task, 'comm'))) used[workers.shift() ?? 'ms'] += ms
    }
    return used
  }

  /** Resident memory in MB: all, and what is not shared with other processes. */
  memory(): { all: number; own: number } {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
    const mb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024
    return { all: mb('VmRSS'), own: mb('RssAnon') + mb('RssShmem') }
  }

  /** Seconds until the server has stopped after SIGTERM. */
  async stop(): Promise<number> {
    const begun = performance.now()
    this.#child.kill('SIGTERM')
    await once(this.#child, 'exit')
    return (performance.now() - begun) / 1000
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) await this.stop()
    rmSync(this.#folder, { recursive: true, maxRetries: 3 })
  }
}
