import type { Agent, Write } from '../agents/agent.ts'
import type { Run, RunExit } from '../drivers/driver.ts'
import type { Frame } from '../framing/frame.ts'
import { withInstallAdvice } from './agent-advice.ts'
import { AGENT_LIMITS, Deadlines, type Stage } from './deadlines.ts'
import type { SessionDeps } from './deps.ts'

/** Receives the output and the end of the process. */
export interface ProcessListener {
  /** The next batch is read after this settles. */
  frames(batch: readonly Frame[]): Promise<void>
  exited(exit: RunExit): Promise<void>
  /** A stage lasted longer than `ms`. The process is stopped after this settles. */
  overdue(stage: Stage, ms: number): Promise<void>
  failed(thrown: unknown): void
}

/** Owns the agent process of a session: one at a time, or none. */
export class AgentProcess {
  readonly #listener: ProcessListener
  readonly #stage: () => Stage
  readonly #deadlines: Deadlines
  readonly #explained: (exit: RunExit) => RunExit
  #run: Run | undefined
  #stopping = false
  #gone: Promise<void> = Promise.resolve()

  constructor(
    listener: ProcessListener,
    agent: Agent,
    { timers, agentLimits, agentSettings }: Pick<SessionDeps, 'timers' | 'agentLimits' | 'agentSettings'>,
    stage: () => Stage,
  ) {
    this.#listener = listener
    this.#stage = stage
    this.#explained = (exit) => withInstallAdvice(exit, agent, agentSettings?.(agent.id).command)
    this.#deadlines = new Deadlines(timers, { ...AGENT_LIMITS, ...agentLimits }, (late, ms) => {
      const handled = listener.overdue(late, ms)
      handled.then(() => this.stop()).catch((thrown) => listener.failed(thrown))
    })
  }

  get running(): boolean {
    return this.#run !== undefined
  }

  /** The process is being stopped and accepts no more prompts. */
  get stopping(): boolean {
    return this.running && this.#stopping
  }

  /** Settles when the process has exited and all of its output is in the log. */
  get gone(): Promise<void> {
    return this.#gone
  }

  adopt(run: Run): void {
    this.#run = run
    this.#stopping = false
    this.#deadlines.enter(this.#stage())
    this.#gone = this.#read(run).catch((thrown) => this.#listener.failed(thrown))
  }

  /** Does nothing after the exit, which `exited` reports. */
  write(writes: readonly Write[]): void {
    for (const write of writes) this.#run?.write(write).catch((thrown) => this.#listener.failed(thrown))
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.#run?.stop()
  }

  /** The current time for `endTools`; undefined if the driver cannot separate the programs of a turn. */
  get moment(): number | undefined {
    return this.#run ? this.#run.moment?.() : 0
  }

  /** Ends programs that tools started since then. Returns the pids that survived. */
  async endTools(since: number): Promise<readonly number[]> {
    return (this.stopping ? undefined : this.#run?.endTools?.(since)) ?? []
  }

  /** Stops the process without waiting for its exit. */
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
    await this.#listener.exited(this.#explained(exit))
  }
}
