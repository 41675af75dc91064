import type { Write } from '../agents/agent.ts'
import type { Frame } from '../framing/frame.ts'
import type { Run, RunExit } from './driver.ts'

/** A run that begins a moment after it was asked for. */
export class LateRun implements Run {
  readonly pid: Promise<number | undefined>
  readonly frames: AsyncIterable<readonly Frame[]>
  readonly exit: Promise<RunExit>
  readonly #run: Promise<Run>

  constructor(run: Promise<Run>) {
    this.#run = run
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
}

async function* framesOf(run: Promise<Run>): AsyncGenerator<readonly Frame[], void, undefined> {
  const { frames } = await run
  yield* frames
}
