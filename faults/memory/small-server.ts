import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')

/** A server under a small heap. */
export class SmallServer implements AsyncDisposable {
  readonly url: string
  readonly pid: number
  readonly #exited: Promise<unknown>
  readonly #stop: () => void
  /** Whether the process has ended. */
  isGone = false

  private constructor(url: string, pid: number, exited: Promise<unknown>, stop: () => void) {
    this.url = url
    this.pid = pid
    this.#exited = exited
    this.#stop = stop
    void exited.then(() => {
      this.isGone = true
    })
  }

  static async start(
    home: string,
    heapMb: number,
    settings: object = { auth: false },
    options: readonly string[] = [],
  ): Promise<SmallServer> {
    mkdirSync(home, { recursive: true })
    const config = join(home, 'config.json')
    writeFileSync(config, JSON.stringify({ port: 0, cwd: home, data: home, ...settings }))
    const args = [...options, `--max-old-space-size=${heapMb}`, MAIN, 'serve', '--config', config]
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const child = spawn(process.execPath, args, {
      env: { PATH, NODE_COMPILE_CACHE, MAINSTEM_HOME: home },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const exited = once(child, 'exit')
    for await (const line of createInterface(child.stdout)) {
      const [url] = /http:\S+/.exec(line) ?? []
      if (url !== undefined) return new SmallServer(url, child.pid ?? 0, exited, () => child.kill())
    }
    throw new Error(`the server did not start: ${String(await exited)}`)
  }

  /** The most memory the process had so far, in MB. */
  get peakMb(): number {
    const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8')) ?? []
    return Math.round(Number(kilobytes) / 1024)
  }

  /** Starts a new measurement of the peak. */
  resetPeak(): void {
    writeFileSync(`/proc/${this.pid}/clear_refs`, '5')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop()
    await this.#exited
  }
}
