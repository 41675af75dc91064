import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { MAIN } from '../built-program.ts'

const FAKE = fileURLToPath(new URL('../../faults/fakes/agent.ts', import.meta.url))

/** The agents that the documents name. */
const AGENTS = ['claude', 'codex', 'gemini']

/** `mainstem serve` without a configuration, where stand-ins for the agents are on the PATH. */
export class DefaultServer implements AsyncDisposable {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), 'documents-')))
  url = ''
  readonly #child: ChildProcess

  constructor() {
    const bin = join(this.home, 'bin')
    const histories = join(this.home, 'histories')
    for (const directory of [bin, histories]) mkdirSync(directory)
    for (const agent of AGENTS) {
      const program = join(bin, agent)
      const play = `exec '${process.execPath}' '${FAKE}' '${histories}' ${agent} "$@"`
      writeFileSync(program, `#!/bin/sh\n[ "$1" = --version ] && echo 9.9.9 && exit\n${play}\n`)
      chmodSync(program, 0o755)
    }
    const { NODE_COMPILE_CACHE, PATH = '' } = process.env
    this.#child = spawn(process.execPath, [MAIN, 'serve', '--port', '0', '--no-auth', '--cwd', this.home], {
      env: {
        PATH: `${bin}${delimiter}${PATH}`,
        HOME: this.home,
        MAINSTEM_HOME: join(this.home, 'data'),
        NODE_COMPILE_CACHE,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  }

  async listening(): Promise<this> {
    if (!this.#child.stdout) throw new Error('stdout is a pipe')
    for await (const line of createInterface(this.#child.stdout)) {
      this.url = /^listening on (\S+)$/.exec(line)?.[1] ?? ''
      if (this.url !== '') return this
    }
    throw new Error('the server ended before it listened')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await exited
    rmSync(this.home, { recursive: true })
  }
}
