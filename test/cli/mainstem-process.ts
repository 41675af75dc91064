import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { MAIN } from '../built-program.ts'
import { type Ran, runWarm } from './warm-process.ts'

export { MAIN } from '../built-program.ts'
export type { Ran } from './warm-process.ts'

/** The fake Claude Code, which does at once what its prompt names. */
export const ASKING_AGENT = fileURLToPath(new URL('./terminal/asking-agent.mjs', import.meta.url))

/** A home with a daemon of its own, which ends with it. */
export class Home implements AsyncDisposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'cli-')))
  readonly env: Record<string, string | undefined> = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    HOME: this.path,
    MAINSTEM_HOME: join(this.path, 'data'),
    TERM: 'xterm',
  }

  /** Its agent `claude` asks at once, and its daemon does not wait for turns that tests leave open. */
  static withAskingAgent(): Home {
    const home = new Home()
    mkdirSync(home.data, { mode: 0o700 })
    const agents = { claude: { command: [process.execPath, ASKING_AGENT] } }
    writeFileSync(join(home.data, 'config.json'), JSON.stringify({ agents, timeouts: { drainMs: 1 } }))
    return home
  }

  get data(): string {
    return join(this.path, 'data')
  }

  /** The process of the daemon. */
  async daemonPid(): Promise<number> {
    return Number(/process (\d+)/.exec((await this.mainstem(['daemon'])).out)?.[1])
  }

  /** The program as it runs without a terminal. `null` leaves standard input open and silent. */
  async mainstem(args: readonly string[], input: string | null = ''): Promise<Ran> {
    const { path: cwd, env } = this
    return (await runWarm({ args, env, cwd, input })) ?? (await this.spawned(args, input))
  }

  /** The same in a process of its own. */
  async spawned(
    args: readonly string[],
    input: string | null = '',
    { nodeOptions = [], main = MAIN }: { nodeOptions?: readonly string[]; main?: string } = {},
  ): Promise<Ran> {
    const child = spawn(process.execPath, [...nodeOptions, main, ...args], { env: this.env, cwd: this.path })
    // A program that refuses its options ends before it reads its input.
    child.stdin.on('error', (thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== 'EPIPE') throw thrown
    })
    if (input !== null) child.stdin.end(input)
    const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
    const [code, out, err] = await Promise.all([exited, text(child.stdout), text(child.stderr)])
    return { code, out, err }
  }

  /** A program that runs until it is done, with its outputs as pipes. */
  start(args: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
    return spawn(process.execPath, [MAIN, ...args], { env: this.env, cwd: this.path, stdio })
  }

  /** The same with standard input as a pipe. */
  startWithInput(args: readonly string[]): ChildProcessByStdio<Writable, Readable, Readable> {
    const stdio: ['pipe', 'pipe', 'pipe'] = ['pipe', 'pipe', 'pipe']
    return spawn(process.execPath, [MAIN, ...args], { env: this.env, cwd: this.path, stdio })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mainstem(['daemon', 'stop'])
    rmSync(this.path, { recursive: true })
  }
}
