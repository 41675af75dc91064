import type { Start } from '../../agents/agent.ts'
import type { LeftRun, OutputPosition, Run, RunExit } from '../../drivers/driver.ts'
import type { Frame } from '../../framing/frame.ts'
import { type Command, MainstemError } from '../../model/index.ts'
import type { SessionDeps } from '../deps.ts'
import { withRecap } from '../hand-over/hand-over.ts'
import type { Log } from '../log/log.ts'
import { withProgramAdvice } from '../machine/agent-advice.ts'
import type { Conversation } from '../machine/conversation.ts'
import { processSurvived, recordOverdue } from '../machine/notices.ts'
import type { Rebuild, SettledWrite } from '../machine/rebuild.ts'
import type { StopStep, TurnStart, Written } from '../machine/sent.ts'
import { unseenEnd } from '../machine/turn-error.ts'
import type { SessionParts } from '../session-parts.ts'
import { withTimeout } from '../with-timeout.ts'
import type { Stage } from './agent-limits.ts'
import { ProcessJournal } from './process-journal.ts'
import { hasProcessBudget, type PromptCommand, type SessionSetup } from './setup.ts'
import { StageLimit } from './stage-limit.ts'
import { contextOf, planStart, type StartPlan, valuesOf } from './start-plan.ts'

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
  readonly #journal: ProcessJournal
  readonly #stages: StageLimit
  #run: Run | undefined
  #stopping = false
  #gone: Promise<void> = Promise.resolve()
  /** The prompt of the open turn, for a process that replaces one that could not resume. */
  #lastPrompt: { command: PromptCommand; begins: TurnStart } | undefined
  /** The process has closed its output, and can end no turn any more. */
  #isOutputClosed = false
  /** The process has run a turn and must not run another: the agent would count both against one budget. */
  #isUsed = false
  /** The next owner of the session has the process. */
  #isDetached = false
  /** The running process resumed its conversation, or was given the recap of the session. */
  #knowsSession = false

  constructor(parts: SessionParts) {
    const { setup, deps, conversation, log } = parts
    this.#setup = setup
    this.#deps = deps
    this.#parts = parts
    this.#conversation = conversation
    this.#log = log
    this.#journal = new ProcessJournal(parts)
    this.#stages = new StageLimit(parts)
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
    const { pool } = this.#deps
    const { place } = this.#parts
    pool.enter(place)
    this.#isUsed = false
    this.#parts.changes.restarted()
    const before = this.#conversation.earlier
    const start = this.#conversation.launch(prompt)
    this.#knowsSession = start.resume !== undefined
    const launched = planStart(this.#parts, start)
    const frame = this.#conversation.countSent()
    const refused =
      'refused' in launched
        ? launched.refused
        : this.#journal.prepare(launched.launch, launched.context.runId, frame)
    this.#journal.sent({ start, ...(this.#journal.isLasting && { before }) }, frame)
    this.#log.launched(start.epoch)
    if (refused || 'refused' in launched) {
      pool.leave(place)
      if (refused) this.#conversation.refuse(refused)
      return
    }
    this.#log.after(() => {
      // Its next owner starts a process that has only its folder.
      if (!this.#isDetached) this.#adopt(this.#start(launched))
    })
    this.command({ type: 'open', ...(start.resume !== undefined && { resume: start.resume }) })
  }

  #start(plan: StartPlan): Run {
    return this.#deps.driver.start(plan.launch, contextOf(this.#parts, plan, this.#journal.isLasting))
  }

  /** Sends the prompt of the open turn, to a new process if none is running. */
  prompt(asked: PromptCommand, begins: TurnStart): void {
    const command = this.#isTold ? asked : withRecap(this.#setup.recap, asked)
    this.#lastPrompt = { command, begins }
    this.#journal.prompt = command
    const { text, images = [] } = command
    if (!this.running) this.start(this.#setup.launch === 'oneshot' ? { text, images } : undefined)
    if (this.#conversation.turn !== undefined) this.command(command, begins)
    this.#knowsSession ||= command !== asked
  }

  /** The agent has no use for the recap, or has a conversation of its own that began with it. */
  get #isTold(): boolean {
    if (this.#setup.recipe.stateless) return true
    const { proven, announced } = this.#conversation.nativeIds
    return this.running ? this.#knowsSession : (proven ?? announced) !== undefined
  }

  /** Sends a command to the agent. A refused prompt ends its turn, because nothing else would. */
  command(command: Command, begins?: TurnStart): void {
    const { writes, refused } = this.#conversation.command(command)
    if (!refused) this.write({ command, writes, ...(begins && { begins }) })
    else if (command.type === 'prompt') this.#conversation.refuse(refused)
    // A signal follows if the agent refuses to stop.
    else if (!isStop(command)) throw new MainstemError(refused.code, refused.message)
    this.#endUnresumed()
  }

  /** Writes after the next commit, unless `mayWrite` returns false then. Does nothing after the exit of the process. */
  write(sent: Written, mayWrite?: () => boolean): void {
    this.#journal.sent(sent)
    this.#log.after(() => {
      if (mayWrite && !mayWrite()) {
        for (const _ of sent.writes) this.#parts.run(this.#run?.lasting?.skip() ?? Promise.resolve())
        return
      }
      for (const write of sent.writes) if (this.#run) this.#parts.run(this.#run.write(write))
    })
  }

  /** Call when the open turn is about to be ended. */
  stopping(step: StopStep): void {
    if (this.#journal.isLasting) this.#journal.sent(step)
  }

  /** Call when a turn has its terminal event. */
  turnEnded(): void {
    const isOver = this.#conversation.turn === undefined
    if (isOver) {
      this.#lastPrompt = undefined
      this.#journal.prompt = undefined
    }
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

  /** The process outlives us, or there is none. */
  get canDetach(): boolean {
    return this.#run === undefined || this.#run.lasting !== undefined
  }

  /** Leaves the process to the next owner of the session: reads and writes no more. */
  async detach(): Promise<void> {
    const run = this.#run
    this.#isDetached = true
    this.#run = undefined
    await run?.lasting?.leave()
  }

  /** Ends a process whose output is not read any more. */
  async abandon(): Promise<void> {
    const run = this.#run
    await this.stop()
    await run?.lasting?.leave()
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

  /** Ends a process that took longer than `ms` for a stage that only it can end. */
  async endOverdue(stage: Stage, ms: number): Promise<void> {
    recordOverdue(this.#conversation, this.#setup, stage, ms)
    this.stopping({ cause: this.#conversation.cause })
    await this.#log.commit()
    await this.stop()
  }

  /** Ends a process that could not resume, so that a new one takes the prompt. */
  #endUnresumed(): void {
    if (!this.#conversation.retrying) return
    this.#log.after(() => this.#parts.run(this.stop()))
  }

  #adopt(run: Run, left?: LeftRun): void {
    this.#run = run
    this.#stopping = false
    this.#isOutputClosed = false
    this.#stages.begin(this.#stage, left)
    this.#gone = this.#parts.run(this.#read(run))
    void run.outputClosed?.then(() => {
      if (this.#run !== run) return
      this.#isOutputClosed = true
      this.#stages.update(this.#stage, false)
    })
  }

  /** Continues a process that an earlier owner started: makes the writes that it does not have. */
  attach(run: Run, pending: readonly SettledWrite[], { lastPrompt, turn }: Rebuild, left: LeftRun): void {
    this.#deps.pool.enter(this.#parts.place)
    this.#knowsSession = lastPrompt !== undefined || this.#setup.resume !== undefined
    if (turn && lastPrompt && this.#conversation.turn === turn.turn) {
      this.#lastPrompt = { command: lastPrompt, begins: turn }
      this.#journal.prompt = lastPrompt
    }
    this.#isUsed =
      turn !== undefined && this.#conversation.turn === undefined && hasProcessBudget(this.#setup)
    for (const { write, isMade } of pending) {
      const done = isMade ? run.write(write) : run.lasting?.skip()
      this.#parts.run(done ?? Promise.resolve())
    }
    this.#adopt(run, left.isStarted ? left : undefined)
    this.#endUnresumed()
  }

  /** Starts a process whose start is committed, and which its earlier owner did not live to start. */
  startAgain(runId: string, start: Start): Run {
    this.#journal.attach(runId)
    const launched = planStart(this.#parts, start)
    if ('refused' in launched) throw new MainstemError(launched.refused.code, launched.refused.message)
    return this.#start(launched)
  }

  /** Continues the output of a process after what is committed. */
  continueOutput(runId: string, from: OutputPosition): Run {
    const { lasting } = this.#deps.driver
    if (!lasting) throw new TypeError('the driver has no runs that outlive it')
    this.#journal.attach(runId)
    return lasting.attach(runId, from, { values: valuesOf(this.#parts) })
  }

  get #stage(): Stage {
    const { stage } = this.#conversation
    return this.#isOutputClosed && stage !== 'finished' ? 'closed' : stage
  }

  /** Decodes and commits the output of a process, until its exit. */
  async #read(run: Run): Promise<void> {
    const conversation = this.#conversation
    for await (const batch of run.frames) {
      // Not decoded here, so the next owner reads it.
      if (this.#isDetached) return
      for (const frame of batch) {
        const { turn } = conversation
        const writes = conversation.frame(frame)
        this.#journal.frame(frame)
        const begins = turn === undefined && run.lasting ? this.#ownTurn() : undefined
        if (writes.length > 0 || begins) this.write({ writes, ...(begins && { begins }) })
      }
      this.#journal.read(run.lasting?.position)
      this.#endUnresumed()
      this.#parts.turns.outputRead()
      this.#parts.interrupts.outputRead()
      await this.#log.commit()
      run.lasting?.release(run.lasting.position)
      this.#stages.update(this.#stage, batch.some(isProtocol))
    }
    const exit = await run.exit
    if (this.#isDetached) return
    this.#stages.end()
    this.#run = undefined
    const { agent } = this.#setup
    await this.#exited(withProgramAdvice(exit, agent, this.#deps.agentSettings?.(agent.id).command))
  }

  /** The turn that the agent has begun by itself. */
  #ownTurn(): TurnStart | undefined {
    const { turn } = this.#conversation
    return turn === undefined ? undefined : { turn, at: this.#deps.clock.now() }
  }

  async #exited({ survivors, unseen, ...exit }: RunExit): Promise<void> {
    const cleanUp = this.#journal.ended()
    this.#deps.pool.leave(this.#parts.place)
    if (unseen) this.#conversation.setCause('lost', unseenEnd(exit.error))
    if (survivors) this.#conversation.notify(processSurvived(survivors))
    this.#conversation.exit(exit)
    if (this.#conversation.retrying && this.#lastPrompt)
      this.prompt(this.#lastPrompt.command, this.#lastPrompt.begins)
    else this.#log.after(() => this.#parts.turns.startNext())
    await this.#log.commit()
    // Its end is committed, so nobody needs its folder.
    await cleanUp()
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
