import type { Start, Write } from '../agents/agent.ts'
import type { ChildKeys, Run, RunExit } from '../drivers/driver.ts'
import type { Frame } from '../framing/frame.ts'
import { type Command, MainstemError } from '../model/index.ts'
import { withInstallAdvice } from './agent-advice.ts'
import type { Conversation } from './conversation.ts'
import { AGENT_LIMITS, Deadlines, type Stage } from './deadlines.ts'
import type { SessionDeps } from './deps.ts'
import type { Log } from './log.ts'
import type { Mask } from './mask.ts'
import { maskedBlobs } from './masked-blobs.ts'
import { processSurvived } from './notices.ts'
import { secretsIn, serverSecrets } from './secrets.ts'
import {
  hasProcessBudget,
  type PromptCommand,
  prepareLaunch,
  runContext,
  type SessionSetup,
} from './setup.ts'
import type { WarmSession } from './warm-pool.ts'
import { withTimeout } from './with-timeout.ts'

/** The time for an agent to stop by its own protocol before its process is ended. */
export const PROTOCOL_GRACE_MS = 2_000

/** Receives the reports of the process. */
export interface ProcessListener {
  /** A process is about to start, with the current settings. */
  starting(): void
  /** Output was decoded and is not committed yet. */
  outputRead(): void
  /** The process has exited and all of its output is committed. */
  exited(): void
  failed(thrown: unknown): void
}

/** The parts of a session that its process uses. */
export interface ProcessParts {
  conversation: Conversation
  log: Log
  mask: Mask
  /** The owner of the session, whose keys the process gets. */
  principal: string
  /** The session, for its place in the pool. */
  session: WarmSession
}

/**
 * Owns the agent process of a session: one at a time, or none. Passes commands to it and its output to the
 * conversation. Spawns and writes wait until the entries before them are committed.
 */
export class AgentProcess {
  readonly #setup: SessionSetup
  readonly #deps: SessionDeps
  readonly #parts: ProcessParts
  readonly #conversation: Conversation
  readonly #log: Log
  readonly #listener: ProcessListener
  readonly #deadlines: Deadlines
  #run: Run | undefined
  #stopping = false
  #gone: Promise<void> = Promise.resolve()
  /** The prompt of the open turn, for a process that replaces one that could not resume. */
  #lastPrompt: PromptCommand | undefined
  /** The process has run a turn and must not run another: the agent would count both against one budget. */
  #isUsed = false

  constructor(setup: SessionSetup, deps: SessionDeps, parts: ProcessParts, listener: ProcessListener) {
    this.#setup = setup
    this.#deps = deps
    this.#parts = parts
    this.#conversation = parts.conversation
    this.#log = parts.log
    this.#listener = listener
    const limits = { ...AGENT_LIMITS, ...deps.agentLimits }
    this.#deadlines = new Deadlines(deps.timers, limits, (stage, ms) => {
      this.#endOverdue(stage, ms).catch((thrown) => listener.failed(thrown))
    })
  }

  get running(): boolean {
    return this.#run !== undefined
  }

  /** The process must exit before the next turn begins. */
  get exiting(): boolean {
    return this.running && (this.#stopping || this.#isUsed || this.#setup.launch === 'oneshot')
  }

  /** Starts a process after the next commit. */
  start(prompt?: Start['prompt']): void {
    const { pool, store, driver } = this.#deps
    const { session, mask } = this.#parts
    pool.enter(session)
    this.#isUsed = false
    this.#listener.starting()
    const start = this.#conversation.launch(prompt)
    this.#log.launched(start.epoch)
    const settings = this.#deps.agentSettings?.(this.#setup.agent.id) ?? {}
    const launched = prepareLaunch(this.#setup, start, settings, this.#deps)
    if ('refused' in launched) {
      pool.leave(session)
      this.#conversation.refuse(launched.refused)
      return
    }
    this.#log.after(() => {
      const blobs = maskedBlobs(store.blobs, mask)
      const protect = this.#protect.bind(this)
      const context = { ...runContext(this.#setup, start, settings, this.#deps), blobs, protect }
      this.#adopt(driver.start(launched.launch, context))
    })
    this.command({ type: 'open', ...(start.resume !== undefined && { resume: start.resume }) })
  }

  /** Sends the prompt of the open turn, to a new process if none is running. */
  prompt(command: PromptCommand): void {
    this.#lastPrompt = command
    const { text, images = [] } = command
    if (!this.running) this.start(this.#setup.launch === 'oneshot' ? { text, images } : undefined)
    if (this.#conversation.turn !== undefined) this.command(command)
  }

  /** Sends a command to the agent. A refused prompt ends its turn, because nothing else would. */
  command(command: Command): void {
    const { writes, refused } = this.#conversation.command(command)
    if (!refused) this.write(writes)
    else if (command.type === 'prompt') this.#conversation.refuse(refused)
    // A signal follows if the agent refuses to stop.
    else if (!isStop(command)) throw new MainstemError(refused.code, refused.message)
    this.#endUnresumed()
  }

  /** Writes after the next commit, unless `mayWrite` returns false then. Does nothing after the exit of the process. */
  write(writes: readonly Write[], mayWrite?: () => boolean): void {
    this.#log.after(() => {
      if (mayWrite && !mayWrite()) return
      for (const write of writes) this.#run?.write(write).catch((thrown) => this.#listener.failed(thrown))
    })
  }

  /** Call when a turn has its terminal event. */
  turnEnded(): void {
    const isOver = this.#conversation.turn === undefined
    if (isOver) this.#lastPrompt = undefined
    this.#isUsed = isOver && hasProcessBudget(this.#setup)
  }

  /** Ends a process whose budget was used by its turn. Its exit starts the queue on a new process. */
  async retire(): Promise<void> {
    if (!this.#isUsed || !this.running) return
    await this.#closeByProtocol()
    if (this.#isUsed) await this.stop()
  }

  /** Ends the process in order. Settles when all of its output is in the log. */
  async close(): Promise<void> {
    if (this.running) {
      await this.#closeByProtocol()
      await this.stop()
    }
    await this.#gone
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.#run?.stop()
  }

  /** The current time for `endTools`; undefined if the driver cannot separate the programs of a turn. */
  get moment(): number | undefined {
    return this.#run ? this.#run.moment?.() : 0
  }

  /** Ends programs that tools started since then, and logs those that survived. */
  async endTools(since: number): Promise<void> {
    const isStopping = this.running && this.#stopping
    const survivors = (await (isStopping ? undefined : this.#run?.endTools?.(since))) ?? []
    if (survivors.length === 0) return
    this.#conversation.notify(processSurvived(survivors))
    await this.#log.commit()
  }

  async #closeByProtocol(): Promise<void> {
    this.command({ type: 'close' })
    await this.#log.commit()
    await withTimeout(this.#deps.timers, PROTOCOL_GRACE_MS, this.#gone)
  }

  async #endOverdue(stage: Stage, ms: number): Promise<void> {
    this.#conversation.overdue(stage, ms)
    await this.#log.commit()
    await this.stop()
  }

  /** Ends a process that could not resume, so that a new one takes the prompt. */
  #endUnresumed(): void {
    if (!this.#conversation.retrying) return
    this.#log.after(() => void this.stop().catch((thrown) => this.#listener.failed(thrown)))
  }

  /** Masks the secrets passed to the agent. Never holds text back for a generated login: no principal knows it. */
  #protect({ environment, named = [], login = [] }: ChildKeys): void {
    const { mask, principal } = this.#parts
    mask.add(serverSecrets(principal, [...named, ...secretsIn(environment)]))
    mask.add({ lent: login })
  }

  #adopt(run: Run): void {
    this.#run = run
    this.#stopping = false
    this.#deadlines.enter(this.#conversation.stage)
    this.#gone = this.#read(run).catch((thrown) => this.#listener.failed(thrown))
  }

  async #read(run: Run): Promise<void> {
    for await (const batch of run.frames) {
      this.#decode(batch)
      await this.#log.commit()
      this.#deadlines.enter(this.#conversation.stage)
    }
    const exit = await run.exit
    this.#deadlines.end()
    this.#run = undefined
    const { agent } = this.#setup
    await this.#exited(withInstallAdvice(exit, agent, this.#deps.agentSettings?.(agent.id).command))
  }

  #decode(batch: readonly Frame[]): void {
    const { journal } = this.#deps
    const conversation = this.#conversation
    for (const frame of batch) {
      const writes = conversation.frame(frame)
      if (writes.length > 0) this.write(writes)
      if (journal && !frame.blob) this.#log.keepFrame(conversation.frames, frame.stream, frame.text)
    }
    if (journal) this.#log.covered(conversation.frames, conversation.coverage)
    this.#endUnresumed()
    this.#listener.outputRead()
  }

  async #exited({ survivors, ...exit }: RunExit): Promise<void> {
    this.#deps.pool.leave(this.#parts.session)
    if (survivors) this.#conversation.notify(processSurvived(survivors))
    this.#conversation.exit(exit)
    if (this.#conversation.retrying && this.#lastPrompt) this.prompt(this.#lastPrompt)
    else this.#log.after(() => this.#listener.exited())
    await this.#log.commit()
  }
}

/** A signal follows these commands, so an agent may refuse them. */
function isStop({ type }: Command): boolean {
  return type === 'interrupt' || type === 'close'
}
