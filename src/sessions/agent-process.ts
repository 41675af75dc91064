import type { Write } from '../agents/agent.ts'
import type { Run, RunExit } from '../drivers/driver.ts'
import type { Frame } from '../framing/frame.ts'
import { AGENT_LIMITS, Deadlines, type Stage } from './deadlines.ts'
import type { SessionDeps } from './deps.ts'

/** Who is told what the process does. */
export interface ProcessListener {
  /** Nothing more is read until this is settled. */
  frames(batch: readonly Frame[]): Promise<void>
  exited(exit: RunExit): Promise<void>
  /** A stage lasted longer than `ms`; the process is stopped when this is settled. */
  overdue(stage: Stage, ms: number): Promise<void>
  failed(thrown: unknown): void
}

/** The agent's process as a session sees it: one at a time, or none. */
export class AgentProcess {
  readonly #listener: ProcessListener
  readonly #stage: () => Stage
  readonly #deadlines: Deadlines
  #run: Run | undefined
  #stopping = false
  #gone: Promise<void> = Promise.resolve()

  constructor(
    listener: ProcessListener,
    { timers, agentLimits }: Pick<SessionDeps, 'timers' | 'agentLimits'>,
    stage: () => Stage,
  ) {
    this.#listener = listener
    this.#stage = stage
    this.#deadlines = new Deadlines(timers, { ...AGENT_LIMITS, ...agentLimits }, (late, ms) => {
      const told = listener.overdue(late, ms)
      told.then(() => this.stop()).catch((thrown) => listener.failed(thrown))
    })
  }

  get running(): boolean {
    return this.#run !== undefined
  }

  /** It runs and is being stopped: it takes no more prompts. */
  get stopping(): boolean {
    return this.running && this.#stopping
  }

  /** Settles when the process is gone and everything it said is in the log. */
  get gone(): Promise<void> {
    return this.#gone
  }

  adopt(run: Run): void {
    this.#run = run
    this.#stopping = false
    this.#deadlines.enter(this.#stage())
    this.#gone = this.#read(run).catch((thrown) => this.#listener.failed(thrown))
  }

  /** A process that is gone takes nothing; how it went is told elsewhere. */
  write(writes: readonly Write[]): void {
    for (const write of writes) this.#run?.write(write).catch((thrown) => this.#listener.failed(thrown))
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.#run?.stop()
  }

  /** The present moment for `endTools`; nothing where programs of a turn cannot be told apart. */
  get moment(): number | undefined {
    return this.#run ? this.#run.moment?.() : 0
  }

  /** Ends programs that tools started since then, and returns the pids that nothing could end. */
  async endTools(since: number): Promise<readonly number[]> {
    return (this.stopping ? undefined : this.#run?.endTools?.(since)) ?? []
  }

  /** Stops it without waiting for its end. */
  dismiss(): void {
    this.stop().catch((thrown) => this.#listener.failed(thrown))
  }

  async #read(run: Run): Promise<void> {
    for await (const batch of run.frames) {
      await this.#listener.frames(batch)
      this.#deadlines.enter(this.#stage())
    }
    const exit = await run.exit
    this.#deadlines.end()
    this.#run = undefined
    await this.#listener.exited(exit)
  }
}
