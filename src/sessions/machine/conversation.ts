import type { Codec, Decoded, Doubt, Emitted, Exit, Start, Write } from '../../agents/agent.ts'
import type { Frame } from '../../framing/frame.ts'
import type { NoticeRaised } from '../../model/events/report.ts'
import type { SessionEnded, SessionHandedOver, SessionUpdated } from '../../model/events/session.ts'
import type { TurnCompleted, TurnQueued } from '../../model/events/turn.ts'
import type { AnswerCommand, Command, Coverage, ErrorInfo, Event } from '../../model/index.ts'
import { OutputTail } from '../../model/outcome/output-tail.ts'
import type { Author } from '../../model/request/request.ts'
import { NO_FRAMES } from '../../model/session/coverage.ts'
import type { Stage } from '../process/agent-limits.ts'
import type { Change } from '../process/setup.ts'
import { AgentContext, type Ending } from './agent-context.ts'
import type { BeforeStart, ConversationDeps, OpenSince, SessionCounts } from './conversation-deps.ts'
import { sessionStarted } from './conversation-deps.ts'
import { LargeValues, oversized } from './large-values.ts'
import { LastAnswer } from './last-answer.ts'
import type { NativeIds } from './native-id.ts'
import { Steers } from './steers.ts'
import { TurnMachine, type Undecided } from './turn-machine.ts'

/**
 * The codec and the turns of one session as a pure fold: frames and commands in; events and writes for the agent out.
 * Live sessions, recordings and the simulation all use it.
 */
export class Conversation {
  /** Counts frames of the whole session, also those read by earlier owners. */
  readonly coverage: Coverage
  readonly #deps: ConversationDeps
  readonly #codec: Codec<unknown>
  readonly #turns: TurnMachine
  #epoch: number
  #frames: number
  #state: unknown
  readonly #context: AgentContext
  #hasOutput = false
  /** Standard error of the current process since its last finished turn, to explain a crash. */
  readonly #stderr = new OutputTail()
  /** The current process has answered its handshake. */
  #ready = false
  #mode: string | undefined
  readonly #answer = new LastAnswer()
  readonly #large = new LargeValues()
  readonly #steers = new Steers()

  constructor(deps: ConversationDeps) {
    this.#deps = deps
    this.coverage = { ...(deps.before?.coverage ?? NO_FRAMES) }
    this.#codec = deps.recipe.codec
    const digest = (text: string) => deps.digest(this.#large.digested(text))
    const canCompact = deps.recipe.capabilities.verbs?.includes('compact')
    this.#turns = new TurnMachine({ ...deps, digest, canCompact }, deps.recipe, deps.before)
    this.#epoch = deps.before?.epoch ?? 0
    this.#frames = deps.before?.frames ?? 0
    const context = deps.before?.context ?? { ids: { proven: deps.start.resume }, prompted: false }
    this.#context = new AgentContext(context, !deps.recipe.stateless)
    this.#mode = deps.start.mode
  }

  get turn(): number | undefined {
    return this.#turns.turn
  }

  /** Why the open turn is being ended; `exit` if it is not. */
  get cause(): Exit['cause'] {
    return this.#turns.cause
  }

  /** What to do about a write that the agent may have. */
  doubtful(write: Write): Doubt | undefined {
    return this.#codec.doubtful?.(this.#state, write)
  }

  /** The number of the last frame. */
  get frames(): number {
    return this.#frames
  }

  /** The agent has not confirmed an interrupt that was sent to it. */
  get unconfirmed(): boolean {
    return this.#codec.unconfirmed?.(this.#state) ?? false
  }

  /** The native name of the mode, if one was chosen. */
  get mode(): string | undefined {
    return this.#mode
  }

  get nativeIds(): NativeIds {
    return this.#context.ids
  }

  /** The open turn waits for a new process. */
  get retrying(): boolean {
    return this.#context.retrying
  }

  /** Emits the first entry of a log. */
  open(): void {
    this.#emit(sessionStarted(this.#deps))
  }

  /** The state before the next process, from which `restart` continues. */
  get earlier(): BeforeStart {
    return { turns: this.#turns.count, context: this.#context.earlier }
  }

  /** Starts a new epoch with a new codec state. Returns the start settings of the process. */
  launch(prompt?: Start['prompt']): Start {
    const { resume: _, mode: __, fork: ___, ...rest } = this.#deps.start
    const { resume, fork, lost } = this.#context.launch()
    for (const event of lost) this.#emit(event)
    const start: Start = {
      ...rest,
      epoch: this.#epoch + 1,
      usageSoFar: this.#turns.usageSoFar,
      ...(resume !== undefined && { resume, ...(fork && { fork }) }),
      ...(this.#mode !== undefined && { mode: this.#mode }),
      ...(prompt && { prompt }),
    }
    this.#reset(start)
    return start
  }

  /** Starts an epoch again from the settings of its process, which outlived its owner. */
  restart(start: Start): void {
    this.#context.launch()
    this.#reset(start)
  }

  /** Sets what the journal does not count: call when the journal of a process was folded. */
  rebuilt({ turns, frames, coverage = NO_FRAMES }: SessionCounts, open?: OpenSince): void {
    this.#turns.renumber(turns, open)
    this.#frames = frames
    Object.assign(this.coverage, coverage)
    this.#mode = this.#deps.start.mode
  }

  #reset(start: Start): void {
    this.#epoch = start.epoch
    this.#hasOutput = false
    this.#state = this.#codec.initial(start)
    this.#large.clear()
    this.#steers.clear()
    this.#stderr.clear()
    this.#ready = false
  }

  /** Changes the settings of the next process. A changed policy is logged. */
  change({ policy, options }: Pick<Start, 'policy' | 'options'>, command: Change): void {
    this.#deps.start = { ...this.#deps.start, policy, options }
    if (command.type !== 'set_policy') return
    // A new policy replaces the mode.
    this.#mode = command.mode
    if (command.policy) this.#emit({ type: 'session.updated', policy })
  }

  /** The next process resumes this native conversation. */
  adopt(nativeSessionId: string): void {
    this.#context.adopt(nativeSessionId)
    this.#emit({ type: 'session.updated', nativeSessionId })
  }

  /** The stage of the running process. */
  get stage(): Stage {
    const { ready, finished } = this.#codec
    const isIdle = this.turn === undefined && this.#deps.start.launch === 'oneshot'
    if (isIdle || finished?.(this.#state)) return 'finished'
    this.#ready ||= ready?.(this.#state) ?? true
    return this.#ready ? 'working' : 'starting'
  }

  accept(): number {
    return this.#turns.accept()
  }

  begin(turn: number, prompt?: string, promptId?: string, author?: Partial<Author>): void {
    this.#context.begin()
    this.#emit(this.#turns.begin(turn, this.#deps.now(), prompt, promptId, author))
  }

  drop(turn: number, why?: ErrorInfo): void {
    this.#emit(this.#turns.drop(turn, why))
  }

  /** Sets why the open turn ends. `why` becomes the message of its error. */
  setCause(cause: Exit['cause'], why?: string): void {
    this.#turns.setCause(cause, why)
  }

  frame(frame: Frame): readonly Write[] {
    this.coverage.frames++
    const native = ++this.#frames
    this.#hasOutput = true
    if (frame.stream === 'stderr') this.#stderr.add(frame.text)
    const step = frame.blob ? oversized(frame.blob) : this.#codec.decode(this.#state, frame)
    if (frame.large) this.#large.add(frame.large, step.emitted)
    // Almost every frame is mapped; the direct increment avoids a lookup by name.
    if (step.verdict === 'mapped') this.coverage.mapped++
    else this.coverage[step.verdict]++
    const { emitted } = step
    // An index loop: an iterator per frame is measurable here.
    for (let at = 0; at < emitted.length; at++) {
      const one = emitted[at]
      if (one) this.#apply(one, native)
    }
    return step.writes
  }

  /** Numbers a frame of the journal that was sent to the agent: both directions share one order. */
  countSent(): number {
    return ++this.#frames
  }

  /** Reads the command in a recorded frame that was sent to the agent. */
  sent(frame: Frame): Command | undefined {
    return this.#codec.sent?.(this.#state, frame)
  }

  command(command: Command): Pick<Decoded, 'writes' | 'refused' | 'applies'> {
    const step = this.#codec.encode(this.#state, command)
    if (command.type === 'steer' && !step.refused) this.#steers.sent(command)
    if (command.type === 'prompt' && !step.refused) {
      for (const event of this.#context.prompt()) this.#emit(event)
    }
    const { turn } = this.#turns
    for (const emitted of step.emitted) this.#apply(emitted, undefined)
    // If the codec ends the turn itself, the prompt was never sent.
    const withdrawn = command.type === 'interrupt' && this.#turns.turn === undefined
    if (withdrawn && turn !== undefined) this.#context.withdraw(turn)
    return step
  }

  /** Logs the decision, with its author, before it is written to the agent. One that the codec refuses is not logged. */
  answer(answer: AnswerCommand, author: Partial<AnswerCommand> = {}): Pick<Decoded, 'writes' | 'refused'> {
    const step = this.#codec.encode(this.#state, answer)
    if (step.refused) return step
    this.resolved({ ...answer, ...author })
    for (const emitted of step.emitted) this.#apply(emitted, undefined)
    return step
  }

  /** Logs a decision, also one that a recording contains. */
  resolved({ type: _, interrupt: __, by = 'person', ...resolution }: AnswerCommand): void {
    const { decision, message } = resolution
    if (decision === 'deny' && by !== 'person' && message !== undefined) this.#turns.refused(message)
    this.#emit({ type: 'request.resolved', ...resolution, by })
  }

  /** Settles everything that the exited process left open; an open turn gets its terminal event. */
  exit(exit: Omit<Exit, 'cause'>): void {
    const stderr = this.#stderr.text
    const { cause, turn } = this.#turns
    this.#turns.processExited()
    this.#context.exited()
    const stopped = exit.code !== undefined && exit.code === this.#deps.recipe.stopCode && cause === 'exit'
    const full: Exit = { ...exit, cause, ...(stopped && { stopped }), ...(stderr !== '' && { stderr }) }
    // We ended the process after its result, so its exit code does not count.
    const step = this.#codec.end(this.#state, cause === 'finished' ? { code: 0, cause } : full)
    if (cause !== 'exit') this.#context.giveUp()
    for (const emitted of step.emitted) this.#apply(emitted, undefined, full)
    if (this.retrying) return
    if (turn !== undefined) this.#context.cut(turn, full.cause, this.#hasOutput || !exit.error)
    for (const event of this.#turns.abandon(this.#deps.now(), full)) this.#emit(event)
  }

  /** Logs an event that no agent caused. */
  notify(
    event: NoticeRaised | SessionEnded | SessionHandedOver | SessionUpdated | TurnQueued,
    turn = this.#turns.turn,
  ): void {
    this.#log(event, turn, undefined)
  }

  /** The agent cannot take the prompt: ends the turn, unless a new process may take it. */
  refuse(error: ErrorInfo): void {
    if (!this.#isOver({ evidence: 'error', error })) return
    for (const event of this.#turns.abandon(this.#deps.now(), { cause: 'exit', error })) this.#emit(event)
  }

  /** Fills in the last message as the result, for agents that do not repeat it at the end. */
  answered(completed: TurnCompleted): TurnCompleted {
    return this.#answer.fill(completed)
  }

  /** One switch for all checks: reading `type` of many object shapes is a slow lookup. */
  #apply(emitted: Emitted, native: number | undefined, exit?: Exit): void {
    switch (emitted.type) {
      case 'turn.verdict':
        if (emitted.lost !== undefined) this.setCause('lost', emitted.lost)
        if (this.#isOver(emitted)) this.#decide(emitted, native, exit)
        this.#stderr.clear()
        return
      case 'request.opened':
      case 'turn.started':
      case 'turn.steered':
      case 'usage.reported':
        // An agent that asks about a call has read the prompt; one that asks for a login has not.
        if (emitted.type === 'request.opened' && emitted.kind !== 'login') this.#context.work()
        this.#decide(emitted, native, exit)
        return
      case 'tool.completed':
      case 'request.withdrawn':
      case 'notice.raised':
      case 'subagent.started':
      case 'subagent.completed':
        this.#turns.observe(emitted, exit)
        break
      case 'text.delta':
      case 'text.completed':
      case 'tool.started':
      case 'thinking.delta':
      case 'thinking.completed':
        if (emitted.type === 'text.completed' && emitted.parent === undefined)
          this.#answer.keep(emitted.text, this.#turns.turn)
        this.#context.work()
        this.#turns.observe(emitted, exit)
        break
      case 'session.updated':
        for (const event of this.#context.announce(emitted.nativeSessionId)) this.#emit(event)
        // The agent may leave the chosen mode itself, when its plan is approved.
        if (this.#mode !== undefined) this.#mode = emitted.mode ?? this.#mode
        break
    }
    this.#log(emitted, this.#turns.turn, native)
  }

  /** The turn ends, unless its prompt can go to a process with a new native session. */
  #isOver(verdict: Ending): boolean {
    const { turn, cause } = this.#turns
    return !this.#context.turnEnded(verdict, turn, cause)
  }

  /** Adds what a codec does not know: turn numbers, outcomes and digests. */
  #decide(emitted: Undecided, native: number | undefined, exit: Exit | undefined): void {
    const open = this.#turns.turn
    const author = this.#steers.authorOf(emitted)
    for (const event of this.#turns.apply(emitted, this.#deps.now(), exit, author)) {
      this.#log(event, this.#turns.turn ?? open, native)
    }
  }

  #emit(event: Event): void {
    this.#log(event, 'turn' in event ? event.turn : this.#turns.turn, undefined)
  }

  #log(event: Event, turn: number | undefined, native: number | undefined): void {
    this.#deps.emit(event, turn, native, this.#large.in(event))
  }
}
