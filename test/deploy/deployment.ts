import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { MAIN, type Ran } from '../cli/mainstem-process.ts'

const { PATH, NODE_COMPILE_CACHE } = process.env

export interface Plan {
  /** The arguments of `mainstem`. */
  args: readonly string[]
  env: Readonly<Record<string, string>>
  /** The directory in which it starts. */
  cwd: string
  /** Directories that exist before the start, and files with their contents. */
  directories: readonly string[]
  files?: Readonly<Record<string, string>>
}

type Child = ChildProcessByStdio<null, Readable, Readable>

/** Absolute paths of a deployment, in arguments, variables and files. URLs and words with a slash are not paths. */
const PATHS = /(?<=^|")\/(?:data|work|srv|var|etc|home)(?:\/[\w.-]+)*(?=$|")/g

/** Moves the paths of a deployment below a directory of the test. */
export const placedIn = (root: string, text: string) => text.replaceAll(PATHS, (path) => join(root, path))

/**
 * Runs the command of a deployment in an empty environment. Its paths are below a temporary directory and its port is a
 * free one; everything else is as the file says.
 */
export class Deployment implements AsyncDisposable {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'deploy-')))
  readonly #env: Record<string, string | undefined>
  readonly #cwd: string
  readonly #child: Child
  readonly #exited: Promise<unknown[]>
  readonly #stderr: Promise<string>
  #port = ''

  constructor({ args, env, cwd, directories, files = {} }: Plan) {
    this.#cwd = this.#here(cwd)
    for (const directory of directories) mkdirSync(this.#here(directory), { recursive: true, mode: 0o700 })
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(this.#here(path)), { recursive: true, mode: 0o700 })
      writeFileSync(this.#here(path), this.#here(content))
    }
    const placed = Object.entries(env).map(([name, value]) => [name, this.#here(value)])
    this.#env = { PATH, NODE_COMPILE_CACHE, HOME: this.root, ...Object.fromEntries(placed) }
    const port = args.indexOf('--port') + 1
    const given = args.map((arg, index) => (index === port && port > 0 ? '0' : this.#here(arg)))
    this.#child = this.#spawn([MAIN, ...given])
    this.#exited = once(this.#child, 'exit')
    this.#stderr = text(this.#child.stderr)
  }

  /** Waits until the server listens; fails with what it printed if it exits instead. */
  async listening(): Promise<this> {
    for await (const line of createInterface(this.#child.stdout)) {
      this.#port = /^listening on http:\/\/\S+:(\d+)$/.exec(line)?.[1] ?? this.#port
      if (line.startsWith('page: ')) return this
    }
    throw new Error(`exit code ${(await this.#exited)[0]}: ${await this.#stderr}`)
  }

  get port(): string {
    return this.#port
  }

  /** The status of the answer to a request with this Host, over the port or a socket in the data directory. */
  async status(path: string, host: string, socket?: string): Promise<number> {
    const to = socket ? { socketPath: join(this.#env.MAINSTEM_HOME ?? '', socket) } : { port: this.port }
    const call = request({ host: '127.0.0.1', ...to, path, headers: { host }, agent: false }).end()
    const [response] = await once(call, 'response')
    response.resume()
    return response.statusCode
  }

  /** Runs a command beside the server, as `docker exec` and `sudo -u` do. */
  async mainstem(...args: string[]): Promise<Ran> {
    return this.run([MAIN, ...args])
  }

  async run(args: readonly string[]): Promise<Ran> {
    const child = this.#spawn(args)
    const exited = once(child, 'close')
    const [[code], out, err] = await Promise.all([exited, text(child.stdout), text(child.stderr)])
    return { code, out, err }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGTERM')
    await this.#exited
    rmSync(this.root, { recursive: true })
  }

  #here(value: string): string {
    return placedIn(this.root, value)
  }

  #spawn(args: readonly string[]): Child {
    return spawn(process.execPath, args, {
      env: this.#env,
      cwd: this.#cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }
}
