import type { Start } from '../../agents/agent.ts'
import type { ChildKeys, Run, RunExit } from '../../drivers/driver.ts'
import type { Frame } from '../../framing/frame.ts'
import { type Command, MainstemError } from '../../model/index.ts'
import type { SessionDeps } from '../deps.ts'
import type { Log } from '../log/log.ts'
import { withProgramAdvice } from '../machine/agent-advice.ts'
import type { Conversation } from '../machine/conversation.ts'
import { processSurvived } from '../machine/notices.ts'
import { type Sent, sentText, type Written } from '../machine/sent.ts'
import { valueSink } from '../machine/value-sink.ts'
import { maskedBlob } from '../mask/masked-blobs.ts'
import type { SessionParts } from '../session-parts.ts'
import { withTimeout } from '../with-timeout.ts'
import { AGENT_LIMITS, LONGEST_EXIT, type Stage } from './agent-limits.ts'
import { secretsIn, serverSecrets } from './secrets.ts'
import {
  hasProcessBudget,
  type PromptCommand,
  prepareLaunch,
  runContext,
  type SessionSetup,
} from './setup.ts'

/** The time for an agent to stop by its own protocol before its process is ended. */
export const PROTOCOL_GRACE_MS = 2_000

/**
 * Owns the agent process of a session: one at a time, or none. Passes commands to it and its output to the
 * conversation. Spawns and writes wait until the entries before them are committed.
 */
export class AgentProcess {
  readonly #setup: SessionSetup
  readonly #deps: SessionDeps
  readonly #parts: SessionParts
  readonly #conversation: Conversation
  readonly #log: Log
  /** The stage that is limited now, and when the agent last wrote a frame of its protocol. */
  #limited: Stage = 'working'
  #heardAt = 0
  #run: Run | undefined
  #stopping = false
  #gone: Promise<void> = Promise.resolve()
  /** The prompt of the open turn, for a process that replaces one that could not resume. */
  #lastPrompt: PromptCommand | undefined
  /** The process has closed its output, and can end no turn any more. */
  #isOutputClosed = false
  /** The process has run a turn and must not run another: the agent would count both against one budget. */
  #isUsed = false

  constructor(parts: SessionParts) {
    const { setup, deps, conversation, log } = parts
    this.#setup = setup
    this.#deps = deps
    this.#parts = parts
    this.#conversation = conversation
    this.#log = log
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
    this.#parts.changes.restarted()
    const start = this.#conversation.launch(prompt)
    this.#keep({ start })
    this.#log.launched(start.epoch)
    const settings = this.#deps.agentSettings?.(this.#setup.agent.id) ?? {}
    const launched = prepareLaunch(this.#setup, start, settings, this.#deps)
    if ('refused' in launched) {
      pool.leave(session)
      this.#conversation.refuse(launched.refused)
      return
    }
    this.#log.after(() => {
      const values = valueSink({
        blobs: store.blobs,
        newHash: () => this.#deps.newHash(),
        mask: (writer) => maskedBlob(writer, mask),
      })
      const protect = this.#protect.bind(this)
      const context = { ...runContext(this.#setup, start, settings, this.#deps), values, protect }
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
    if (!refused) this.write({ command, writes })
    else if (command.type === 'prompt') this.#conversation.refuse(refused)
    // A signal follows if the agent refuses to stop.
    else if (!isStop(command)) throw new MainstemError(refused.code, refused.message)
    this.#endUnresumed()
  }

  /** Writes after the next commit, unless `mayWrite` returns false then. Does nothing after the exit of the process. */
  write(sent: Written, mayWrite?: () => boolean): void {
    this.#keep(sent)
    this.#log.after(() => {
      if (mayWrite && !mayWrite()) return
      for (const write of sent.writes) if (this.#run) this.#parts.run(this.#run.write(write))
    })
  }

  /** Adds a step towards the agent to the journal. */
  #keep(sent: Sent): void {
    if (!this.#deps.journal) return
    const conversation = this.#conversation
    const { images = [] } = this.#lastPrompt ?? {}
    const text = sentText(sent, { options: this.#setup.options, images, mask: this.#parts.mask })
    this.#log.keepSent(conversation.countSent(), text, conversation.coverage)
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

  /**
   * Limits the stages that only the process itself can end. Call at the start and after all output: output of the
   * protocol extends the wait for the exit after a result, and no other.
   */
  #limitStage(isProtocol: boolean): void {
    if (isProtocol) this.#heardAt = this.#deps.clock.monotonic()
    const stage = this.#stage
    if (stage === this.#limited) return
    this.#enter(stage)
    if (stage === 'working') return
    const { startMs, exitMs } = { ...AGENT_LIMITS, ...this.#deps.agentLimits }
    const ms = stage === 'starting' ? startMs : exitMs
    const most = stage === 'finished' ? LONGEST_EXIT * ms : ms
    this.#awaitStage(stage, ms, ms, this.#deps.clock.monotonic() + most)
  }

  #enter(stage: Stage): void {
    this.#parts.alarms.disarm('stage')
    this.#limited = stage
  }

  #awaitStage(stage: Stage, ms: number, left: number, last: number): void {
    const heardAt = this.#heardAt
    this.#parts.alarms.arm('stage', left, ({ wasSuspended }) => {
      const extended = Math.min(this.#heardAt + ms, last) - this.#deps.clock.monotonic()
      const more = wasSuspended ? ms : this.#heardAt === heardAt ? 0 : extended
      if (more > 0) this.#awaitStage(stage, ms, more, last)
      else this.#parts.run(this.#endOverdue(stage, ms))
    })
  }

  async #endOverdue(stage: Stage, ms: number): Promise<void> {
    this.#conversation.overdue(stage, ms)
    await this.#log.commit()
    await this.stop()
  }

  /** Ends a process that could not resume, so that a new one takes the prompt. */
  #endUnresumed(): void {
    if (!this.#conversation.retrying) return
    this.#log.after(() => this.#parts.run(this.stop()))
  }

  /** Masks the secrets passed to the agent. Never holds text back for a generated login: no principal knows it. */
  #protect({ environment, named = [], login = [] }: ChildKeys): void {
    const { mask, state } = this.#parts
    mask.add(serverSecrets(state.principal, [...named, ...secretsIn(environment)]))
    mask.add({ lent: login })
  }

  #adopt(run: Run): void {
    this.#run = run
    this.#stopping = false
    this.#isOutputClosed = false
    this.#limitStage(true)
    this.#gone = this.#parts.run(this.#read(run))
    void run.outputClosed?.then(() => {
      if (this.#run !== run) return
      this.#isOutputClosed = true
      this.#limitStage(false)
    })
  }

  get #stage(): Stage {
    const { stage } = this.#conversation
    return this.#isOutputClosed && stage !== 'finished' ? 'closed' : stage
  }

  async #read(run: Run): Promise<void> {
    for await (const batch of run.frames) {
      this.#decode(batch)
      await this.#log.commit()
      this.#limitStage(batch.some(isProtocol))
    }
    const exit = await run.exit
    this.#enter('working')
    this.#run = undefined
    const { agent } = this.#setup
    await this.#exited(withProgramAdvice(exit, agent, this.#deps.agentSettings?.(agent.id).command))
  }

  #decode(batch: readonly Frame[]): void {
    const { journal } = this.#deps
    const conversation = this.#conversation
    for (const frame of batch) {
      const writes = conversation.frame(frame)
      if (journal && !frame.blob) this.#log.keepFrame(conversation.frames, frame.stream, frame.text)
      if (writes.length > 0) this.write({ writes })
    }
    if (journal) this.#log.covered(conversation.frames, conversation.coverage)
    this.#endUnresumed()
    this.#parts.turns.outputRead()
  }

  async #exited({ survivors, ...exit }: RunExit): Promise<void> {
    this.#deps.pool.leave(this.#parts.session)
    if (survivors) this.#conversation.notify(processSurvived(survivors))
    this.#conversation.exit(exit)
    if (this.#conversation.retrying && this.#lastPrompt) this.prompt(this.#lastPrompt)
    else this.#log.after(() => this.#parts.turns.startNext())
    await this.#log.commit()
  }
}

/** Standard error is no part of any agent's protocol. */
function isProtocol({ stream }: Frame): boolean {
  return stream !== 'stderr'
}

/** A signal follows these commands, so an agent may refuse them. */
function isStop({ type }: Command): boolean {
  return type === 'interrupt' || type === 'close'
}
