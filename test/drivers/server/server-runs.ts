import { fileURLToPath } from 'node:url'
import type { ServerLaunch } from '../../../src/agents/agent.ts'
import type { Run, RunContext } from '../../../src/drivers/driver.ts'
import { driver } from '../../../src/drivers/index.ts'
import type { ServerDriverOptions } from '../../../src/drivers/server.ts'
import type { Frame, FrameStream } from '../../../src/framing/frame.ts'
import { contextOf, PATIENT, plain } from '../fake-run.ts'

export const SERVER = fileURLToPath(new URL('../../fake-agents/server.mjs', import.meta.url))

export function fakeServer(mode: string): ServerLaunch {
  return {
    kind: 'server',
    argv: [process.execPath, SERVER, mode],
    env: {},
    passEnv: ['OPENCODE_*'],
    listening: /listening on http:\/\/127\.0\.0\.1:(\d+)/,
    events: '/event',
    login: {
      user: 'opencode',
      userVariable: 'OPENCODE_SERVER_USERNAME',
      passwordVariables: ['OPENCODE_SERVER_PASSWORD'],
    },
  }
}

/** A server that is running, and everything it has said so far. */
export class Heard {
  readonly run: Run
  readonly frames: Frame[] = []
  /** Settles when it has nothing more to say. */
  readonly ended: Promise<void>
  readonly #waiting = new Set<() => void>()
  #over = false

  constructor(run: Run) {
    this.run = run
    this.ended = this.#read()
  }

  of(stream: FrameStream): string[] {
    return this.frames.filter((frame) => frame.stream === stream).map(({ text }) => text)
  }

  values(stream: FrameStream): unknown[] {
    return this.frames.filter((frame) => frame.stream === stream).map(({ value }) => value)
  }

  /** The first frame with this text in it, once it is there. */
  async until(part: string): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(({ text }) => text.includes(part))
      if (found) return found
      if (this.#over) throw new Error(`it ended without ${part}`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** The body of the answer to one call. */
  async answer(path: string): Promise<unknown> {
    void this.run.write({ kind: 'http', method: 'GET', path, tag: path })
    const { value } = await this.until(`{"tag":"${path}"`)
    return typeof value === 'object' && value !== null ? Reflect.get(value, 'body') : undefined
  }

  async #read(): Promise<void> {
    for await (const batch of this.run.frames) {
      this.frames.push(...batch.map(plain))
      this.#wake()
    }
    this.#over = true
    this.#wake()
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}

export function startServer(
  mode: string,
  options: ServerDriverOptions = {},
  context: Partial<RunContext> = {},
): Heard {
  return new Heard(driver({ graces: PATIENT, ...options }).start(fakeServer(mode), contextOf(context)))
}
