import type { Start, Write } from '../agents/agent.ts'
import type { ChildKeys, RunExit } from '../drivers/driver.ts'
import type { Frame } from '../framing/frame.ts'
import { type Cause, type Command, type Event, MainstemError, toMainstemError } from '../model/index.ts'
import type { SessionState } from '../stores/store.ts'
import { AgentProcess, type ProcessListener } from './agent-process.ts'
import { Answering } from './answering.ts'
import { Changes } from './changes.ts'
import type { Claim } from './claim.ts'
import type { Conversation } from './conversation.ts'
import type { TurnRead } from './delivery.ts'
import type { SessionDeps } from './deps.ts'
import type { EngineOwner } from './engine-owner.ts'
import { Interruption, isStop, PROTOCOL_GRACE_MS } from './interruption.ts'
import { Log, type LogPosition } from './log.ts'
import { Mask } from './mask.ts'
import { maskedBlobs } from './masked-blobs.ts'
import { agentSilent, processSurvived } from './notices.ts'
import { openConversation } from './open-conversation.ts'
import { Outbox } from './outbox.ts'
import { PromptQueue } from './prompt-queue.ts'
import { secretsFor, secretsIn, serverSecrets } from './secrets.ts'
import {
  hasProcessBudget,
  type Prompt,
  type PromptCommand,
  prepareLaunch,
  promptCommand,
  runContext,
  type SessionSetup,
} from './setup.ts'
import { isCounted } from './turn-limits.ts'
import { TurnWaiters } from './turn-waiters.ts'
import { Watchdog, type WatchdogOwner } from './watchdog.ts'
import { withTimeout } from './with-timeout.ts'

/**
 * Runs a session: connects the conversation, the agent process and the log. State changes happen in memory at once;
 * their side effects (a spawn, a write to the agent, a resolved promise) wait in the outbox until the entries are
 * committed.
 */
export class Engine {
  readonly conversation: Conversation
  readonly process: AgentProcess
  readonly outbox: Outbox
  readonly answering: Answering
  readonly changes: Changes
  readonly turnWaiters: TurnWaiters
  readonly queue: PromptQueue
  readonly #setup: SessionSetup
  readonly #deps: SessionDeps
  readonly #owner: EngineOwner
  readonly #log: Log
  readonly #mask: Mask
  readonly #principal: string
  /** Idempotency keys to store when a turn ends. */
  readonly #claims = new Map<number, Claim[]>()
  readonly #interruption: Interruption
  /** The process has run a turn and must not run another: the agent would count both against one budget. */
  #isProcessUsed = false
  #watchdog: Watchdog | undefined
  #lastPrompt: PromptCommand | undefined
  #failed = false
  /** When the turn began, if its tools have to be ended with it. */
  #began: number | undefined
  #eventCount = 0

  constructor(
    setup: SessionSetup,
    deps: SessionDeps,
    state: SessionState,
    position: LogPosition,
    owner: EngineOwner,
  ) {
    this.#setup = setup
    this.#deps = deps
    this.#owner = owner
    this.#principal = state.principal
    this.queue = new PromptQueue(deps.store, setup.id, state.queue)
    this.turnWaiters = new TurnWaiters(deps.store, state)
    this.#mask = new Mask(secretsFor(setup, state.principal, deps))
    this.#log = new Log(state, position, {
      store: deps.store,
      now: () => deps.clock.now(),
      committed: deps.committed,
      mask: this.#mask,
      terms: deps.terms,
    })
    this.outbox = new Outbox(this.#log, (thrown) => this.fail(thrown))
    const listener: ProcessListener = {
      frames: (batch) => this.#decode(batch),
      exited: (exit) => this.#exited(exit),
      overdue: (stage, ms) => {
        this.conversation.overdue(stage, ms)
        return this.outbox.flush()
      },
      failed: (thrown) => this.fail(thrown),
    }
    this.process = new AgentProcess(listener, setup.agent, deps, () => this.conversation.stage)
    this.conversation = openConversation(setup, deps, state, this.#emit.bind(this))
    this.answering = new Answering(this, setup, deps, (waiting) => this.#watchdog?.waitForPerson(waiting))
    this.#interruption = new Interruption(this, deps.timers)
    this.changes = new Changes(this, setup, state, this.#log)
  }

  get busy(): boolean {
    return this.queue.length > 0 || this.#occupied
  }

  /** A turn is open, or the process of the last one must end or confirm an interrupt before the next begins. */
  get #occupied(): boolean {
    const { running, stopping } = this.process
    const exiting = stopping || (running && (this.#setup.launch === 'oneshot' || this.#isProcessUsed))
    return this.conversation.turn !== undefined || exiting || this.#interruption.unconfirmed
  }

  begin(prompt: Prompt): void {
    this.changes.apply()
    const command = promptCommand(this.#setup, prompt, this.#deps.newId())
    this.changes.dropImages()
    this.conversation.begin(prompt.turn, prompt.text, command.promptId)
    const { policy, recipe } = this.#setup
    if (recipe.leavesTools) this.#began = this.process.moment
    const owner: WatchdogOwner = {
      stop: (cause, why) => this.interrupt(cause, undefined, why).catch((thrown) => this.fail(thrown)),
      silent: (ms) => {
        this.conversation.notify(agentSilent(this.#setup.agent.id, ms, this.#deps.clock.now() - ms))
        this.#later(this.outbox.flush())
      },
    }
    this.#watchdog = new Watchdog(policy, this.#deps, owner, recipe.steps)
    this.#send(command)
  }

  #send(command: PromptCommand): void {
    this.#lastPrompt = command
    const { text, images = [] } = command
    if (!this.process.running) this.start(this.#setup.launch === 'oneshot' ? { text, images } : undefined)
    if (this.conversation.turn !== undefined) this.command(command)
  }

  /** Appends a prompt to the queue. */
  enqueue({ turn, text, images }: Prompt): void {
    this.queue.push({ turn, text, images })
    this.conversation.queued(turn, text, this.queue.length)
    this.#log.keepImages(turn, images)
    this.outbox.push(() => this.queue.stored(turn))
  }

  /** Starts the next queued prompt if nothing else is running. */
  startNext(): void {
    const { turn } = this.conversation
    if (turn === undefined && this.#interruption.unconfirmed) this.#interruption.awaitConfirmation()
    if (this.#occupied) return
    if (this.changes.stale && this.process.running) this.#owner.endStaleProcess()
    else if (this.queue.isReady) this.#beginNext()
    else this.#later(this.queue.load().then(() => this.startNext()))
  }

  #beginNext(): void {
    const next = this.queue.shift()
    if (next) {
      this.begin(next)
      this.#later(this.outbox.flush())
    } else this.#owner.becameIdle()
  }

  #later(work: Promise<void>): void {
    work.catch((thrown) => this.fail(thrown))
  }

  /** Starts a process after the next commit. */
  start(prompt?: Start['prompt']): void {
    this.#deps.pool.enter(this.#owner)
    this.#isProcessUsed = false
    this.changes.restarted()
    const start = this.conversation.launch(prompt)
    this.#log.launched(start.epoch)
    const settings = this.#deps.agentSettings?.(this.#setup.agent.id) ?? {}
    const launched = prepareLaunch(this.#setup, start, settings, this.#deps)
    if ('refused' in launched) {
      this.#deps.pool.leave(this.#owner)
      this.conversation.refuse(launched.refused)
      return
    }
    this.outbox.push(() => {
      const blobs = maskedBlobs(this.#deps.store.blobs, this.#mask)
      const protect = this.#protect.bind(this)
      const context = { ...runContext(this.#setup, start, settings, this.#deps), blobs, protect }
      this.process.adopt(this.#deps.driver.start(launched.launch, context))
    })
    this.command({ type: 'open', ...(start.resume !== undefined && { resume: start.resume }) })
  }

  /** Masks the secrets passed to the agent. Never holds text back for a generated login: no principal knows it. */
  #protect({ environment, named = [], login = [] }: ChildKeys): void {
    this.#mask.add(serverSecrets(this.#principal, [...named, ...secretsIn(environment)]))
    this.#mask.add({ lent: login })
  }

  /** Sends a command to the agent. A refused prompt ends its turn, because nothing else would. */
  command(command: Command): void {
    const { writes, refused } = this.conversation.command(command)
    if (!refused) this.#write(writes)
    else if (command.type === 'prompt') this.conversation.refuse(refused)
    // A signal follows if the agent refuses to stop.
    else if (!isStop(command)) throw new MainstemError(refused.code, refused.message)
    this.#endUnresumed()
  }

  /** Ends a process that could not resume, so that a new one takes the prompt. */
  #endUnresumed(): void {
    if (this.conversation.retrying) this.outbox.push(() => this.process.dismiss())
  }

  /** Stops the open turn, if there is one. Settles when the terminal event is committed. */
  async interrupt(cause: Cause, claims: readonly Claim[] = [], why?: string): Promise<void> {
    const { turn } = this.conversation
    if (turn === undefined) return this.flush(claims)
    if (claims.length > 0) this.#claims.set(turn, [...(this.#claims.get(turn) ?? []), ...claims])
    this.conversation.setCause(cause, why)
    // Read now: the next turn may begin during the awaits below.
    const began = this.#began
    const settled = this.turnWaiters.wait(turn)
    // It may reject before the await below; an unhandled rejection would end the program.
    settled.catch(() => undefined)
    const byProtocol = this.#setup.recipe.capabilities.interrupt === 'protocol'
    if (byProtocol) this.command({ type: 'interrupt' })
    await this.outbox.flush()
    await this.#interruption.stop(turn, byProtocol ? settled : undefined)
    await settled
    if (byProtocol && began !== undefined) await this.#endTools(began)
  }

  async #endTools(since: number): Promise<void> {
    const survivors = await this.process.endTools(since)
    if (survivors.length === 0) return
    this.conversation.notify(processSurvived(survivors))
    await this.outbox.flush()
  }

  /** Switches to another native conversation. */
  async adopt(nativeSessionId: string): Promise<void> {
    this.conversation.adopt(nativeSessionId)
    this.#log.resumable(this.conversation.nativeIds)
    await this.outbox.flush()
  }

  async delivered(reads: readonly TurnRead[]): Promise<void> {
    this.#log.delivered(reads)
    await this.outbox.flush()
  }

  async closeProcess(): Promise<void> {
    if (this.process.running) {
      this.command({ type: 'close' })
      await this.outbox.flush()
      await withTimeout(this.#deps.timers, PROTOCOL_GRACE_MS, this.process.gone)
      await this.process.stop()
    }
    await this.process.gone
    await this.answering.stop()
  }

  /** Ends the process after its turn. Its exit starts the queue on a new process. */
  async #retire(): Promise<void> {
    this.command({ type: 'close' })
    await this.outbox.flush()
    await withTimeout(this.#deps.timers, PROTOCOL_GRACE_MS, this.process.gone)
    if (this.#isProcessUsed) await this.process.stop()
  }

  /** Commits pending entries, with the idempotency keys of their command. */
  async flush(claims: readonly Claim[] = [], result?: unknown): Promise<void> {
    for (const claim of claims) this.#log.use(claim, result)
    await this.outbox.flush()
  }

  /** Storage failed, or we have a bug. Stops the process, because its output can no longer be logged. */
  fail(thrown: unknown): void {
    if (this.#failed) return
    this.#failed = true
    const error = toMainstemError(thrown)
    this.#watchdog?.end()
    this.turnWaiters.fail(error)
    const stopped = Promise.allSettled([this.#log.abandon(error), this.process.stop(), this.answering.stop()])
    const left = stopped.then(() => this.#deps.pool.leave(this.#owner))
    this.#deps.failed?.(this.#setup.id, error, left)
  }

  async #decode(batch: readonly Frame[]): Promise<void> {
    const { journal } = this.#deps
    const before = this.#eventCount
    for (const frame of batch) {
      this.#write(this.conversation.frame(frame))
      if (journal && !frame.blob) this.#log.keepFrame(this.conversation.frames, frame.stream, frame.text)
    }
    if (journal) this.#log.covered(this.conversation.frames, this.conversation.coverage)
    this.#endUnresumed()
    // Frames without events, such as heartbeats, do not count as activity.
    if (this.#eventCount > before) this.#watchdog?.noteActivity()
    this.#interruption.outputRead()
    await this.outbox.flush()
  }

  async #exited({ survivors, ...exit }: RunExit): Promise<void> {
    this.#deps.pool.leave(this.#owner)
    if (survivors) this.conversation.notify(processSurvived(survivors))
    this.conversation.exit(exit)
    if (this.conversation.retrying && this.#lastPrompt) this.#send(this.#lastPrompt)
    else this.outbox.push(() => this.startNext())
    await this.outbox.flush()
  }

  #write(writes: readonly Write[]): void {
    if (writes.length > 0) this.outbox.push(() => this.process.write(writes))
  }

  #emit(event: Event, turn: number | undefined, native: number | undefined): void {
    this.#log.add(event, turn, native)
    this.#eventCount++
    if (isCounted(event)) this.outbox.push(() => this.#watchdog?.observe(event))
    switch (event.type) {
      case 'request.opened':
        this.answering.opened(event)
        break
      case 'request.withdrawn':
        this.answering.withdrawn(event.requestId)
        break
      case 'session.updated':
        this.#log.resumable(this.conversation.nativeIds)
        break
      case 'turn.completed': {
        this.#log.resumable(this.conversation.nativeIds)
        for (const claim of this.#claims.get(event.turn) ?? []) this.#log.use(claim)
        this.#claims.delete(event.turn)
        // A queued turn that was dropped had no watchdog.
        if (this.conversation.turn === undefined) this.#watchdog?.end()
        if (this.conversation.turn === undefined) this.#lastPrompt = undefined
        this.#isProcessUsed = this.conversation.turn === undefined && hasProcessBudget(this.#setup)
        const settled = this.conversation.answered(event)
        this.outbox.push(() => {
          this.turnWaiters.settle(this.#mask.value(settled))
          if (this.#isProcessUsed && this.process.running) this.#later(this.#retire())
          this.startNext()
        })
      }
    }
  }
}
