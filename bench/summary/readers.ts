import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readers } from './readers-worker.ts'

export interface Delays {
  p50: number
  p99: number
}

/** Subscribers in a process of their own. */
export class Subscribers implements Disposable {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>

  private constructor(child: ChildProcess, lines: AsyncIterator<string>) {
    this.#child = child
    this.#lines = lines
  }

  /** Settles when all are connected. */
  static async open(readers: Readers): Promise<Subscribers> {
    const worker = join(import.meta.dirname, 'readers-worker.ts')
    const child = spawn(process.execPath, [worker], { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.end(JSON.stringify(readers))
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    await lines.next()
    return new Subscribers(child, lines)
  }

  /** Settles when each has read the end of a turn. */
  async turn(): Promise<Delays> {
    return JSON.parse((await this.#lines.next()).value ?? '{}')
  }

  [Symbol.dispose](): void {
    this.#child.kill()
  }
}
