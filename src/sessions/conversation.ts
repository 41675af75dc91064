import type { Codec, Decoded, Emitted, Exit, Start, Write } from '../agents/agent.ts'
import type { Frame } from '../framing/frame.ts'
import type { NoticeRaised } from '../model/events/report.ts'
import type { TurnCompleted } from '../model/events/turn.ts'
import type { AnswerCommand, Command, Coverage, ErrorInfo, Event, Usage } from '../model/index.ts'
import { OutputTail } from '../model/output-tail.ts'
import { AgentContext, type EarlierContext, type Ending } from './agent-context.ts'
import type { Stage } from './deadlines.ts'
import { LastAnswer } from './last-answer.ts'
import type { NativeIds } from './native-id.ts'
import { exitForced, startOverdue } from './notices.ts'
import { type SessionFacts, sessionStarted } from './session-started.ts'
import type { Change } from './setup.ts'
import { type Seen, TurnMachine, type TurnRules, type Undecided } from './turn-machine.ts'

const NOTHING: Coverage = { frames: 0, mapped: 0, unmapped: 0, malformed: 0, oversized: 0 }

/** Takes an event with the turn it belongs to and the number of the frame it came from. */
export type Emit = (event: Event, turn: number | undefined, native: number | undefined) => void

export interface ConversationDeps extends TurnRules, SessionFacts {
  /** What the session had come to before this owner. */
  before?: {
    turns: number
    epoch: number
    frames: number
    usageSoFar: Usage
    coverage?: Coverage | undefined
    context: EarlierContext
  }
  now(): number
  emit: Emit
}

/**
 * One session's codec and turns as a pure fold: frames and commands in, events out, and what is to be written to
 * the agent. A live session, a recording and a simulation all run through here.
 */
export class Conversation {
  /** Of the whole session, whoever owned it. */
  readonly coverage: Coverage
  readonly #deps: ConversationDeps
  readonly #codec: Codec<unknown>
  readonly #turns: TurnMachine
  #epoch: number
  /** The number of the last frame; a journal may begin later than a session. */
  #frames: number
  #state: unknown
  readonly #context: AgentContext
  /** The open turn is to be given to another process, because this one could not resume. */
  #retrying = false
  /** The process has written something. */
  #heard = false
  /** Standard error of the current process since its last finished turn, to explain a crash. */
  readonly #stderr = new OutputTail()
  /** The current process has answered its handshake. */
  #ready = false
  /** Chosen by the agent's own name for it. */
  #mode: string | undefined
  readonly #answer = new LastAnswer()

  constructor(deps: ConversationDeps) {
    this.#deps = deps
    this.coverage = { ...(deps.before?.coverage ?? NOTHING) }
    this.#codec = deps.recipe.codec
    this.#turns = new TurnMachine(deps, deps.recipe, deps.before)
    this.#epoch = deps.before?.epoch ?? 0
    this.#frames = deps.before?.frames ?? 0
    const context = deps.before?.context ?? { ids: { proven: deps.start.resume }, prompted: false }
    this.#context = new AgentContext(context, !deps.recipe.stateless)
    this.#mode = deps.start.mode
  }

  get turn(): number | undefined {
    return this.#turns.turn
  }

  /** The number of the last frame. */
  get frames(): number {
    return this.#frames
  }

  /** The agent has not confirmed an interrupt that was sent to it. */
  get unconfirmed(): boolean {
    return this.#codec.unconfirmed?.(this.#state) ?? false
  }

  /** The agent's own, where one was chosen by its name. */
  get mode(): string | undefined {
    return this.#mode
  }

  get nativeIds(): NativeIds {
    return this.#context.ids
  }

  /** The open turn waits for another process. */
  get retrying(): boolean {
    return this.#retrying
  }

  /** The first entry of every log. */
  open(): void {
    this.#emit(sessionStarted(this.#deps))
  }

  /** A native process is about to start: a new epoch with a codec state of its own. */
  launch(prompt?: Start['prompt']): Start {
    this.#epoch++
    const { resume: _, mode: __, ...rest } = this.#deps.start
    const { resume, lost } = this.#context.launch()
    for (const event of lost) this.#emit(event)
    this.#retrying = false
    this.#heard = false
    const start: Start = {
      ...rest,
      epoch: this.#epoch,
      usageSoFar: this.#turns.usageSoFar,
      ...(resume !== undefined && { resume }),
      ...(this.#mode !== undefined && { mode: this.#mode }),
      ...(prompt && { prompt }),
    }
    this.#state = this.#codec.initial(start)
    this.#stderr.clear()
    this.#ready = false
    return start
  }

  /** What the next process is started with. Another policy is told. */
  change({ policy, options }: Pick<Start, 'policy' | 'options'>, command: Change): void {
    this.#deps.start = { ...this.#deps.start, policy, options }
    if (command.type !== 'set_policy') return
    // Another policy brings a mode of its own.
    this.#mode = command.mode
    if (command.policy) this.#emit({ type: 'session.updated', policy })
  }

  /** The next process goes on with this conversation of the agent's own. */
  adopt(nativeSessionId: string): void {
    this.#context.adopt(nativeSessionId)
    this.#emit({ type: 'session.updated', nativeSessionId })
  }

  /** How far the running process is. */
  get stage(): Stage {
    const { ready, finished } = this.#codec
    const isIdle = this.turn === undefined && this.#deps.start.launch === 'oneshot'
    if (isIdle || finished?.(this.#state)) return 'finished'
    this.#ready ||= ready?.(this.#state) ?? true
    return this.#ready ? 'working' : 'starting'
  }

  /** The process is about to be ended because a stage lasted too long. */
  overdue(stage: Stage, ms: number): void {
    const { agent, start } = this.#deps
    if (stage === 'finished') {
      this.blame('finished')
      this.#emit(exitForced(agent, start.launch, ms))
      return
    }
    const why = startOverdue(agent, start.launch, ms)
    if (this.turn !== undefined) this.blame('timeout', why)
    else this.#emit({ type: 'notice.raised', level: 'error', code: 'agent_silent', message: why })
  }

  accept(): number {
    return this.#turns.accept()
  }

  queued(turn: number, prompt: string, position: number): void {
    this.#deps.emit({ type: 'turn.queued', turn, prompt, position }, turn, undefined)
  }

  begin(turn: number, prompt?: string, promptId?: string): void {
    this.#context.begin()
    this.#emit(this.#turns.begin(turn, this.#deps.now(), prompt, promptId))
  }

  drop(turn: number): void {
    this.#emit(this.#turns.drop(turn))
  }

  /** `why` is the sentence that the turn's error shows. */
  blame(cause: Exit['cause'], why?: string): void {
    this.#turns.blame(cause, why)
  }

  frame(frame: Frame): readonly Write[] {
    this.coverage.frames++
    const native = ++this.#frames
    this.#heard = true
    if (frame.stream === 'stderr') this.#stderr.add(frame.text)
    const step = this.#codec.decode(this.#state, frame)
    // Almost every frame is; spelled out, it costs no lookup by name.
    if (step.verdict === 'mapped') this.coverage.mapped++
    else this.coverage[step.verdict]++
    const { emitted } = step
    // By number: of lists that come from everywhere the engine makes an iterator each time.
    for (let at = 0; at < emitted.length; at++) {
      const one = emitted[at]
      if (one) this.#hear(one, native)
    }
    return step.writes
  }

  /** A frame that a transcript shows going to the agent; commands in it are taken as given. */
  sent(frame: Frame): Command | undefined {
    return this.#codec.sent?.(this.#state, frame)
  }

  command(command: Command): Pick<Decoded, 'writes' | 'refused' | 'applies'> {
    const step = this.#codec.encode(this.#state, command)
    if (command.type === 'prompt' && !step.refused) {
      for (const event of this.#context.prompt()) this.#emit(event)
    }
    const { turn } = this.#turns
    for (const emitted of step.emitted) this.#hear(emitted, undefined)
    // A codec that ends a turn by itself has not sent its prompt yet.
    const withdrawn = command.type === 'interrupt' && this.#turns.turn === undefined
    if (withdrawn && turn !== undefined) this.#context.withdraw(turn)
    return step
  }

  /** A decision is a fact before the agent hears of it; one the agent cannot take is none. */
  answer(answer: AnswerCommand): { writes: readonly Write[]; refused?: ErrorInfo } {
    const step = this.#codec.encode(this.#state, answer)
    if (step.refused) return step
    this.resolved(answer)
    for (const emitted of step.emitted) this.#hear(emitted, undefined)
    return step
  }

  /** A decision that a transcript shows. */
  resolved({ type: _, interrupt: __, by = 'person', ...resolution }: AnswerCommand): void {
    const { decision, message } = resolution
    if (decision === 'deny' && by !== 'person' && message !== undefined) this.#turns.refused(message)
    this.#emit({ type: 'request.resolved', ...resolution, by })
  }

  /** The process is gone: whatever it left open is settled, and an open turn gets its terminal event. */
  exit(exit: Omit<Exit, 'cause'>): void {
    const stderr = this.#stderr.text
    const { cause, turn } = this.#turns
    this.#turns.gone()
    const whole: Exit = { ...exit, cause, ...(stderr !== '' && { stderr }) }
    // How a process ends that we had to end says nothing about the result before it.
    const step = this.#codec.end(this.#state, cause === 'finished' ? { code: 0, cause } : whole)
    if (cause !== 'exit') this.#retrying = false
    for (const emitted of step.emitted) this.#hear(emitted, undefined, whole)
    if (this.#retrying) return
    if (turn !== undefined) this.#context.cut(turn, whole.cause, this.#heard || !exit.error)
    for (const event of this.#turns.abandon(this.#deps.now(), whole)) this.#emit(event)
  }

  notify(notice: NoticeRaised): void {
    this.#emit(notice)
  }

  /** The agent cannot take the prompt: its turn ends, unless another process may take it. */
  refuse(error: ErrorInfo): void {
    if (this.#canRetry({ evidence: 'error', error })) return
    for (const event of this.#turns.abandon(this.#deps.now(), { cause: 'exit', error })) this.#emit(event)
  }

  /** Agents that do not repeat their answer at the end have said it last. */
  answered(completed: TurnCompleted): TurnCompleted {
    return this.#answer.fill(completed)
  }

  ended(event: Event & { type: 'session.ended' }): void {
    this.#emit(event)
  }

  /** Its type is looked at once: events come in so many shapes that each look is a search. */
  #hear(emitted: Emitted, native: number | undefined, exit?: Exit): void {
    switch (emitted.type) {
      case 'turn.verdict':
        if (!this.#canRetry(emitted)) this.#decide(emitted, native, exit)
        this.#stderr.clear()
        return
      case 'request.opened':
        // An agent that asks about a call has the prompt; one that asks for a login has not begun.
        if (emitted.kind !== 'login') this.#context.work()
        this.#decide(emitted, native, exit)
        return
      case 'turn.started':
      case 'turn.steered':
      case 'usage.reported':
        this.#decide(emitted, native, exit)
        return
      case 'text.completed':
      case 'tool.started':
        this.#work(emitted, exit)
        if (emitted.type === 'text.completed' && emitted.parent === undefined)
          this.#answer.keep(emitted.text, this.#turns.turn)
        break
      case 'tool.completed':
      case 'request.withdrawn':
      case 'notice.raised':
      case 'subagent.started':
      case 'subagent.completed':
        this.#turns.see(emitted, exit)
        break
      case 'text.delta':
      case 'thinking.delta':
      case 'thinking.completed':
        this.#work(emitted, exit)
        break
      case 'session.updated':
        for (const event of this.#context.announce(emitted.nativeSessionId)) this.#emit(event)
        // One that was chosen may be left by the agent itself, when its plan is approved.
        if (this.#mode !== undefined) this.#mode = emitted.mode ?? this.#mode
        break
    }
    this.#deps.emit(emitted, this.#turns.turn, native)
  }

  /** A resume that failed before anything was done leaves the prompt to a process with a new session. */
  #canRetry(verdict: Ending): boolean {
    const { turn, cause } = this.#turns
    if (this.#context.judge(verdict, turn, cause) && turn !== undefined) this.#retrying = true
    return this.#retrying
  }

  #work(event: Seen, exit: Exit | undefined): void {
    this.#context.work()
    this.#turns.see(event, exit)
  }

  /** What only the session knows: turns, outcomes and digests. */
  #decide(emitted: Undecided, native: number | undefined, exit: Exit | undefined): void {
    const open = this.#turns.turn
    for (const event of this.#turns.hear(emitted, this.#deps.now(), exit)) {
      this.#deps.emit(event, this.#turns.turn ?? open, native)
    }
  }

  #emit(event: Event): void {
    this.#deps.emit(event, 'turn' in event ? event.turn : this.#turns.turn, undefined)
  }
}
