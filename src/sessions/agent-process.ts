import type { Write } from '../agents/agent.ts'
import type { Run, RunExit } from '../drivers/driver.ts'
import type { Frame } from '../framing/frame.ts'

/** Who is told what the process does. */
export interface ProcessListener {
  /** Nothing more is read until this is settled. */
  frames(batch: readonly Frame[]): Promise<void>
  exited(exit: RunExit): Promise<void>
  failed(thrown: unknown): void
}

/** The agent's process as a session sees it: one at a time, or none. */
export class AgentProcess {
  readonly #listener: ProcessListener
  #run: Run | undefined
  #gone: Promise<void> = Promise.resolve()

  constructor(listener: ProcessListener) {
    this.#listener = listener
  }

  get running(): boolean {
    return this.#run !== undefined
  }

  /** Settles when the process is gone and everything it said is in the log. */
  get gone(): Promise<void> {
    return this.#gone
  }

  adopt(run: Run): void {
    this.#run = run
    this.#gone = this.#read(run).catch((thrown) => this.#listener.failed(thrown))
  }

  /** A process that is gone takes nothing; how it went is told elsewhere. */
  write(writes: readonly Write[]): void {
    for (const write of writes) this.#run?.write(write).catch((thrown) => this.#listener.failed(thrown))
  }

  async stop(): Promise<void> {
    await this.#run?.stop()
  }

  async #read(run: Run): Promise<void> {
    for await (const batch of run.frames) await this.#listener.frames(batch)
    const exit = await run.exit
    this.#run = undefined
    await this.#listener.exited(exit)
  }
}
