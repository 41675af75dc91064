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
import { Interruption, isStop, PROTOCOL_GRACE_MS } from './interruption.ts'
import { Log, type LogPlace } from './log.ts'
import { Mask } from './mask.ts'
import { maskedBlobs } from './masked-blobs.ts'
import { agentSilent, processSurvived } from './notices.ts'
import { openConversation } from './open-conversation.ts'
import { Outbox } from './outbox.ts'
import { secretsFor, secretsIn, serverSecrets } from './secrets.ts'
import {
  isBudgetOfProcess,
  launchOf,
  type Prompt,
  type PromptCommand,
  promptCommand,
  runContext,
  type SessionSetup,
} from './setup.ts'
import { isCounted } from './turn-limits.ts'
import { TurnWaiters } from './turn-waiters.ts'
import type { Warm } from './warm-pool.ts'
import { Watchdog, type WatchdogOwner } from './watchdog.ts'
import { withTimeout } from './with-timeout.ts'

/** What the engine tells the session it moves. */
export interface EngineOwner extends Warm {
  /** Nothing runs any more and nothing waits. */
  atRest(): void
  /** The process has settings that no longer hold, and no turn is open: it ends before the next one. */
  endStale(): void
}

/**
 * What moves a session: the conversation, the agent's process and the log. State changes happen at once and in
 * memory; what they cause outside (a process, a line to the agent, a promise kept) waits in the outbox until the
 * entries are committed.
 */
export class Engine {
  readonly conversation: Conversation
  readonly process: AgentProcess
  readonly outbox: Outbox
  readonly answering: Answering
  readonly changes: Changes
  readonly turnWaiters: TurnWaiters
  readonly queue: Prompt[] = []
  readonly #setup: SessionSetup
  readonly #deps: SessionDeps
  readonly #owner: EngineOwner
  readonly #log: Log
  readonly #mask: Mask
  readonly #principal: string
  /** Keys that are used up when a turn ends. */
  readonly #claims = new Map<number, Claim[]>()
  readonly #interruption: Interruption
  /** The process has had its turn: the agent would count the next one against the same budget. */
  #isSpent = false
  #watchdog: Watchdog | undefined
  #given: PromptCommand | undefined
  #failed = false
  /** When the turn began, where its tools have to be ended with it. */
  #began: number | undefined
  #eventCount = 0

  constructor(
    setup: SessionSetup,
    deps: SessionDeps,
    state: SessionState,
    place: LogPlace,
    owner: EngineOwner,
  ) {
    this.#setup = setup
    this.#deps = deps
    this.#owner = owner
    this.#principal = state.principal
    this.turnWaiters = new TurnWaiters(deps.store, state)
    this.#mask = new Mask(secretsFor(setup, state.principal, deps))
    this.#log = new Log(state, place, {
      store: deps.store,
      now: () => deps.clock.now(),
      committed: deps.committed,
      mask: this.#mask,
      terms: deps.terms,
    })
    this.outbox = new Outbox(this.#log, (thrown) => this.fail(thrown))
    const listener: ProcessListener = {
      frames: (batch) => this.#hear(batch),
      exited: (exit) => this.#exited(exit),
      overdue: (stage, ms) => {
        this.conversation.overdue(stage, ms)
        return this.outbox.flush()
      },
      failed: (thrown) => this.fail(thrown),
    }
    this.process = new AgentProcess(listener, deps, () => this.conversation.stage)
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
    const exiting = stopping || (running && (this.#setup.launch === 'oneshot' || this.#isSpent))
    return this.conversation.turn !== undefined || exiting || this.#interruption.unconfirmed
  }

  begin(prompt: Prompt): void {
    this.changes.apply()
    const command = promptCommand(this.#setup, prompt, this.#deps.newId())
    this.conversation.begin(prompt.turn, prompt.text, command.promptId)
    const { policy, recipe } = this.#setup
    if (recipe.leavesTools) this.#began = this.process.moment
    const owner: WatchdogOwner = {
      stop: (cause, why) => this.interrupt(cause, undefined, why).catch((thrown) => this.fail(thrown)),
      silent: (ms) => {
        this.conversation.notify(agentSilent(this.#setup.agent.id, ms, this.#deps.clock.now() - ms))
        this.outbox.flush().catch((thrown) => this.fail(thrown))
      },
    }
    this.#watchdog = new Watchdog(policy, this.#deps, owner, recipe.steps)
    this.#give(command)
  }

  #give(command: PromptCommand): void {
    this.#given = command
    const { text, images = [] } = command
    if (!this.process.running) this.start(this.#setup.launch === 'oneshot' ? { text, images } : undefined)
    if (this.conversation.turn !== undefined) this.command(command)
  }

  /** Behind the turns that were there before it. */
  wait({ turn, text, images }: Prompt): void {
    this.queue.push({ turn, text, images })
    this.conversation.queued(turn, text, this.queue.length)
    this.#log.keepImages(turn, images)
  }

  /** A prompt that waited has its turn when nothing else is running. */
  next(): void {
    if (this.conversation.turn === undefined && this.#interruption.unconfirmed) this.#interruption.await()
    if (this.#occupied) return
    const isStale = this.changes.stale && this.process.running
    const next = isStale ? undefined : this.queue.shift()
    if (isStale) this.#owner.endStale()
    else if (next) {
      this.begin(next)
      this.outbox.flush().catch((thrown) => this.fail(thrown))
    } else this.#owner.atRest()
  }

  /** Starts a native process, as soon as the entries are committed that need it. */
  start(prompt?: Start['prompt']): void {
    this.#deps.pool.enter(this.#owner)
    this.#isSpent = false
    this.changes.restarted()
    const start = this.conversation.launch(prompt)
    this.#log.launched(start.epoch)
    const settings = this.#deps.agentSettings?.(this.#setup.agent.id) ?? {}
    const launched = launchOf(this.#setup, start, settings, this.#deps)
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

  /** Masks the secrets that the agent is given. Text never waits for a generated login: no principal knows it. */
  #protect({ environment, named = [], login = [] }: ChildKeys): void {
    this.#mask.add(serverSecrets(this.#principal, [...named, ...secretsIn(environment)]))
    this.#mask.add({ lent: login })
  }

  /** A prompt that the agent cannot take ends its turn: nothing else would. */
  command(command: Command): void {
    const { writes, refused } = this.conversation.command(command)
    if (!refused) this.#write(writes)
    else if (command.type === 'prompt') this.conversation.refuse(refused)
    // An agent that refuses to stop is stopped by a signal.
    else if (!isStop(command)) throw new MainstemError(refused.code, refused.message)
    this.#endUnresumed()
  }

  /** A process that cannot resume its session gives way to one with a new session. */
  #endUnresumed(): void {
    if (this.conversation.retrying) this.outbox.push(() => this.process.dismiss())
  }

  /** Stops the open turn; without one it does nothing. Settles when the turn has its terminal event. */
  async interrupt(cause: Cause, claim?: Claim, why?: string): Promise<void> {
    const { turn } = this.conversation
    if (turn === undefined) return this.flush(claim)
    if (claim) this.#claims.set(turn, [...(this.#claims.get(turn) ?? []), claim])
    this.conversation.blame(cause, why)
    // The next turn may begin before this one is done with.
    const began = this.#began
    const settled = this.turnWaiters.wait(turn)
    // It may fail before it is waited for, and a failure that nobody has asked for yet would end the whole process.
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

  /** Another conversation of the agent's own is to be resumed. */
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

  /** What waits begins with the exit of this process, on another one. */
  async #retire(): Promise<void> {
    this.command({ type: 'close' })
    await this.outbox.flush()
    await withTimeout(this.#deps.timers, PROTOCOL_GRACE_MS, this.process.gone)
    if (this.#isSpent) await this.process.stop()
  }

  /** Commits what was said, and with it the key that it uses up. */
  async flush(claim?: Claim): Promise<void> {
    if (claim) this.#log.use(claim)
    await this.outbox.flush()
  }

  /** Storage is gone, or we have a bug: nothing more can be promised, so the process must not go on unseen. */
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

  async #hear(batch: readonly Frame[]): Promise<void> {
    const { journal } = this.#deps
    const before = this.#eventCount
    for (const frame of batch) {
      this.#write(this.conversation.frame(frame))
      if (journal && !frame.blob) this.#log.keepFrame(this.conversation.frames, frame.stream, frame.text)
    }
    if (journal) this.#log.covered(this.conversation.frames, this.conversation.coverage)
    this.#endUnresumed()
    // A heartbeat that says nothing is silence.
    if (this.#eventCount > before) this.#watchdog?.heard()
    this.#interruption.heard()
    await this.outbox.flush()
  }

  async #exited({ survivors, ...exit }: RunExit): Promise<void> {
    this.#deps.pool.leave(this.#owner)
    if (survivors) this.conversation.notify(processSurvived(survivors))
    this.conversation.exit(exit)
    if (this.conversation.retrying && this.#given) this.#give(this.#given)
    else this.outbox.push(() => this.next())
    await this.outbox.flush()
  }

  #write(writes: readonly Write[]): void {
    if (writes.length > 0) this.outbox.push(() => this.process.write(writes))
  }

  #emit(event: Event, turn: number | undefined, native: number | undefined): void {
    this.#log.add(event, turn, native)
    this.#eventCount++
    if (isCounted(event)) this.outbox.push(() => this.#watchdog?.see(event))
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
        // A turn that only waited had neither.
        if (this.conversation.turn === undefined) this.#watchdog?.end()
        this.#isSpent = this.conversation.turn === undefined && isBudgetOfProcess(this.#setup)
        const settled = this.conversation.answered(event)
        this.outbox.push(() => {
          this.turnWaiters.settle(this.#mask.value(settled))
          if (this.#isSpent && this.process.running) this.#retire().catch((thrown) => this.fail(thrown))
          this.next()
        })
      }
    }
  }
}
