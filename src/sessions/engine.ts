import type { Launch, Start, Write } from '../agents/agent.ts'
import type { RunExit } from '../drivers/driver.ts'
import type { Frame } from '../framing/frame.ts'
import type { RequestOpened } from '../model/events/request.ts'
import {
  type AnswerCommand,
  type Cause,
  type Command,
  type Event,
  MainstemError,
  toMainstemError,
} from '../model/index.ts'
import type { SessionState } from '../stores/store.ts'
import { AgentProcess } from './agent-process.ts'
import { answerFor, isForHook } from './approval.ts'
import { Conversation } from './conversation.ts'
import { Log } from './log.ts'
import { Outbox } from './outbox.ts'
import type { AgentSettings, SessionParts } from './parts.ts'
import { Settlements } from './settlements.ts'
import { circumstances, hookRunId, type Prompt, replaceProgram, type SessionSetup } from './setup.ts'
import { ToolHooks } from './tool-hook.ts'
import type { Warm } from './warm-pool.ts'
import { Watchdog } from './watchdog.ts'

/** How long an agent may take to stop by its own protocol before its process is ended. */
const PROTOCOL_GRACE_MS = 2_000

/** What the engine tells the session it moves. */
export interface EngineOwner extends Warm {
  /** Nothing runs any more and nothing waits. */
  atRest(): void
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
  readonly settlements = new Settlements()
  readonly queue: Prompt[] = []
  readonly #setup: SessionSetup
  readonly #parts: SessionParts
  readonly #owner: EngineOwner
  readonly #log: Log
  readonly #requests = new Map<string, RequestOpened>()
  readonly #hooks: ToolHooks
  #watchdog: Watchdog | undefined
  /** Events so far. */
  #said = 0

  constructor(
    setup: SessionSetup,
    parts: SessionParts,
    state: SessionState,
    head: number,
    owner: EngineOwner,
  ) {
    this.#setup = setup
    this.#parts = parts
    this.#owner = owner
    this.#log = new Log(state, head, parts.store, () => parts.clock.now(), parts.committed)
    this.outbox = new Outbox(this.#log)
    this.process = new AgentProcess({
      frames: (batch) => this.#hear(batch),
      exited: (exit) => this.#exited(exit),
      failed: (thrown) => this.fail(thrown),
    })
    const { agent, recipe, launch, cwd, policy, options, resume } = setup
    const { driver, timers } = parts
    this.#hooks = new ToolHooks(options.hooks?.beforeToolCall, {
      driver,
      timers,
      runId: hookRunId(setup.id),
      cwd,
    })
    this.conversation = new Conversation({
      agent: agent.id,
      recipe,
      start: { launch, cwd, policy, options, ...(resume !== undefined && { resume }) },
      before: { turns: state.turns, epoch: state.epoch, frames: state.frames, spent: state.usage },
      digest: parts.digest,
      answeredBy: (request) => this.#answeredBy(request),
      now: () => parts.clock.monotonic(),
      emit: (event, turn, native) => this.#emit(event, turn, native),
    })
  }

  get busy(): boolean {
    const exiting = this.process.running && this.#setup.launch === 'oneshot'
    return this.conversation.turn !== undefined || this.queue.length > 0 || exiting
  }

  begin({ turn, text, images: own }: Prompt): void {
    this.conversation.begin(turn, text)
    // Images of the session itself come with its first prompt.
    const images = turn === 1 ? [...(this.#setup.options.images ?? []), ...own] : own
    const { clock, timers } = this.#parts
    this.#watchdog = new Watchdog(this.#setup.policy, clock, timers, (cause) => {
      this.interrupt(cause).catch((thrown) => this.fail(thrown))
    })
    if (!this.process.running) this.start()
    if (this.conversation.turn === undefined) return
    this.command({ type: 'prompt', text, ...(images.length > 0 && { images: [...images] }) })
  }

  /** A prompt that waited has its turn when nothing else is running. */
  next(): void {
    const exiting = this.process.running && this.#setup.launch === 'oneshot'
    if (this.conversation.turn !== undefined || exiting) return
    const next = this.queue.shift()
    if (!next) {
      this.#owner.atRest()
      return
    }
    this.begin(next)
    this.outbox.flush().catch((thrown) => this.fail(thrown))
  }

  /** Starts a native process, as soon as the entries are committed that need it. */
  start(): void {
    this.#parts.pool.enter(this.#owner)
    const start = this.conversation.launch()
    this.#log.launched(start.epoch)
    const settings = this.#parts.agentSettings?.(this.#setup.agent.id) ?? {}
    const launch = this.#launchOf(start, settings)
    if (!launch) return
    this.outbox.push(() => {
      const run = this.#parts.driver.start(launch, {
        runId: `${this.#setup.id}.${start.epoch}`,
        cwd: this.#setup.cwd,
        env: { ...settings.env, ...this.#setup.options.env },
        blobs: this.#parts.store.blobs,
      })
      this.process.adopt(run)
    })
    this.command({ type: 'open', ...(start.resume !== undefined && { resume: start.resume }) })
  }

  /** What could be started once may be refused later, with an id to resume; that ends the turn that needs it. */
  #launchOf(start: Start, settings: AgentSettings): Launch | undefined {
    try {
      return replaceProgram(this.#setup.recipe.launch(start), settings)
    } catch (thrown) {
      const { code, message } = toMainstemError(thrown)
      this.#parts.pool.leave(this.#owner)
      this.conversation.refuse({ code, message })
      return undefined
    }
  }

  /** A prompt that the agent cannot take ends its turn: nothing else would. */
  command(command: Command): void {
    const { writes, refused } = this.conversation.command(command)
    if (!refused) this.#write(writes)
    else if (command.type === 'prompt') this.conversation.refuse(refused)
    else throw new MainstemError(refused.code, refused.message)
  }

  /** Commits the decision, then tells the agent. The first decision wins. */
  async answer(answer: AnswerCommand): Promise<void> {
    if (!this.#requests.has(answer.requestId)) {
      throw new MainstemError('request_not_found', `there is no open request ${answer.requestId}`)
    }
    if (this.#hooks.decides(answer.requestId)) {
      throw new MainstemError('conflict', `a hook is deciding request ${answer.requestId}`)
    }
    const { writes, refused } = this.conversation.answer(answer)
    if (refused) throw new MainstemError(refused.code, refused.message)
    this.#requests.delete(answer.requestId)
    this.#watchdog?.waitForPerson(this.#requests.size > 0)
    this.#write(writes)
    await this.outbox.flush()
    if (answer.interrupt) await this.interrupt('interrupt')
  }

  /** Stops the open turn; without one it does nothing. Settles when the turn has its terminal event. */
  async interrupt(cause: Cause): Promise<void> {
    const { turn } = this.conversation
    if (turn === undefined) return
    this.conversation.blame(cause)
    const settled = this.settlements.wait(turn)
    const byProtocol = this.#setup.recipe.capabilities.interrupt === 'protocol'
    if (byProtocol) this.command({ type: 'interrupt' })
    await this.outbox.flush()
    if (byProtocol) await this.#within(PROTOCOL_GRACE_MS, settled)
    if (this.conversation.turn === turn) await this.process.stop()
    await settled
  }

  async closeProcess(): Promise<void> {
    if (this.process.running) {
      this.command({ type: 'close' })
      await this.outbox.flush()
      await this.#within(PROTOCOL_GRACE_MS, this.process.gone)
      await this.process.stop()
    }
    await this.process.gone
    await this.#hooks.stop()
  }

  /** Storage is gone, or we have a bug: nothing more can be promised, so the process must not go on unseen. */
  fail(thrown: unknown): void {
    this.#watchdog?.end()
    this.settlements.fail(toMainstemError(thrown))
    void this.process.stop()
    void this.#hooks.stop()
  }

  async #hear(batch: readonly Frame[]): Promise<void> {
    const before = this.#said
    for (const frame of batch) {
      this.#write(this.conversation.frame(frame))
      if (this.#parts.journal && !frame.blob) {
        this.#log.keepFrame(this.conversation.frames, frame.stream, frame.text)
      }
    }
    // A heartbeat that says nothing is silence.
    if (this.#said > before) this.#watchdog?.heard()
    await this.outbox.flush()
  }

  async #exited({ survivors, ...exit }: RunExit): Promise<void> {
    this.#parts.pool.leave(this.#owner)
    if (survivors) this.conversation.survived(survivors)
    this.conversation.exit(exit)
    this.outbox.push(() => this.next())
    await this.outbox.flush()
  }

  #write(writes: readonly Write[]): void {
    if (writes.length > 0) this.outbox.push(() => this.process.write(writes))
  }

  #emit(event: Event, turn: number | undefined, native: number | undefined): void {
    this.#log.add(event, turn, native)
    this.#said++
    switch (event.type) {
      case 'request.opened':
        this.#ask(event)
        break
      case 'request.withdrawn':
        this.#requests.delete(event.requestId)
        this.#hooks.withdraw(event.requestId)
        this.#watchdog?.waitForPerson(this.#requests.size > 0)
        break
      case 'usage.reported':
        this.outbox.push(() => this.#watchdog?.see(event))
        break
      case 'turn.completed':
        this.#log.resumable(this.conversation.nativeSessionId)
        if (event.turn === turn) this.#watchdog?.end()
        this.outbox.push(() => {
          this.settlements.settle(event)
          this.next()
        })
    }
  }

  #ask(request: RequestOpened): void {
    this.#requests.set(request.requestId, request)
    this.#watchdog?.waitForPerson(true)
    const answer = answerFor(request, circumstances(this.#setup, this.#parts))
    if (!answer && request.asks !== 'hook') return
    this.outbox.push(() => {
      if (!this.#requests.has(request.requestId)) return
      const answered = answer ? this.answer(answer) : this.#askHook(request)
      // An answer that the agent does not offer is none; the request stays for a person.
      answered.catch((thrown) => {
        if (toMainstemError(thrown).code === 'storage_failed') this.fail(thrown)
      })
    })
  }

  async #askHook(request: RequestOpened): Promise<void> {
    const answer = await this.#hooks.ask(request)
    if (this.#requests.has(request.requestId)) await this.answer(answer)
  }

  #answeredBy(request: RequestOpened): 'policy' | 'hook' | undefined {
    const given = circumstances(this.#setup, this.#parts)
    if (isForHook(request, given)) return 'hook'
    return answerFor(request, given) && 'policy'
  }

  async #within(ms: number, awaited: Promise<unknown>): Promise<void> {
    const over = new AbortController()
    await Promise.race([awaited, this.#parts.timers.sleep(ms, over.signal)])
    over.abort()
  }
}
