import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const CONFIGURATION = join(import.meta.dirname, '../../deploy/haproxy.cfg')
const PORTS = { first: 30_000, count: 2_000 }
const ATTEMPTS = 10

export function hasHaproxy(): boolean {
  return spawnSync('haproxy', ['-v']).status === 0
}

/** HAProxy with the configuration in `deploy`, in front of nodes on this machine. */
export class Haproxy implements AsyncDisposable {
  readonly url: string
  readonly #child: ChildProcess

  /** `nodes` are the addresses of the nodes, in the order of the configuration. */
  static async start(folder: string, nodes: readonly string[]): Promise<Haproxy> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const port = PORTS.first + Math.floor(Math.random() * PORTS.count)
      const file = join(folder, 'haproxy.cfg')
      writeFileSync(file, configuration(nodes, port))
      const child = spawn('haproxy', ['-q', '-f', file], { stdio: 'ignore' })
      while (child.exitCode === null) {
        if (await accepts(port)) return new Haproxy(child, port)
        await sleep(20)
      }
    }
    throw new Error('HAProxy does not start')
  }

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.url = `http://127.0.0.1:${port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }
}

/** The configuration in `deploy`, with other addresses and nothing else changed. */
function configuration(nodes: readonly string[], port: number): string {
  const text = readFileSync(CONFIGURATION, 'utf8').replace(/^ {2}bind :\d+$/m, `  bind 127.0.0.1:${port}`)
  return nodes.reduce((all, address, index) => {
    const line = new RegExp(`(server n${index + 1}) \\S+`)
    if (!line.test(all)) throw new Error(`deploy/haproxy.cfg has no node ${index + 1}`)
    return all.replace(line, `$1 ${new URL(address).host}`)
  }, text)
}

function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const done = Promise.withResolvers<boolean>()
  socket.once('connect', () => done.resolve(true))
  socket.once('error', () => done.resolve(false))
  return done.promise.finally(() => socket.destroy())
}
