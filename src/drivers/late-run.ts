import type { Write } from '../agents/agent.ts'
import type { Frame } from '../framing/frame.ts'
import type { Run, RunExit } from './driver.ts'

/** A run that begins a moment after it was asked for. */
export class LateRun implements Run {
  readonly pid: Promise<number | undefined>
  readonly frames: AsyncIterable<readonly Frame[]>
  readonly exit: Promise<RunExit>
  readonly #run: Promise<Run>
  #begun: Run | undefined

  constructor(run: Promise<Run>) {
    this.#run = run.then((begun) => {
      this.#begun = begun
      return begun
    })
    this.pid = run.then(({ pid }) => pid)
    this.frames = { [Symbol.asyncIterator]: () => framesOf(run) }
    this.exit = run.then(({ exit }) => exit)
  }

  async write(write: Write): Promise<void> {
    const run = await this.#run
    return run.write(write)
  }

  async stop(): Promise<void> {
    const run = await this.#run
    return run.stop()
  }

  /** Before the beginning is before every process of the run. */
  moment(): number | undefined {
    return this.#begun ? this.#begun.moment?.() : 0
  }

  async endTools(since: number): Promise<readonly number[]> {
    const run = await this.#run
    return run.endTools?.(since) ?? []
  }
}

async function* framesOf(run: Promise<Run>): AsyncGenerator<readonly Frame[], void, undefined> {
  const { frames } = await run
  yield* frames
}
