import type { Agent } from '../agents/agent.ts'
import { type Wired, wire } from '../compose/wire.ts'
import { isAskedHere } from '../dialects/request-subject.ts'
import { agentEvents } from '../dialects/ues.ts'
import type { AgentEvent, PermissionRequestPayload } from '../dialects/ues-event.ts'
import type { RequestOpened } from '../model/events/request.ts'
import { type MainstemError, toMainstemError } from '../model/index.ts'
import { jsonCopy } from '../model/json-copy.ts'
import type { AgentSettings } from '../sessions/deps.ts'
import type { Session } from '../sessions/session.ts'
import type { AgentId, AgentOptions } from './adapter.ts'
import { decisionOf, deny } from './approve.ts'
import { endOf, initOf } from './own-events.ts'
import { Pace } from './pace.ts'
import { sessionRequest } from './request.ts'
import { keepNativeId } from './resumable.ts'

export interface RunSetup {
  /** What the agent is called here. */
  id: AgentId
  agent: Agent
  settings: AgentSettings
  prompt: string
  options: AgentOptions
}

/** One prompt to one agent: a session with a single turn, and a log of its own that goes with it. */
export class Run {
  readonly sessionId: string
  readonly #setup: RunSetup
  readonly #wired: Wired
  readonly #session: Session
  readonly #pace: Pace
  readonly #startedAt = Date.now()
  readonly #over = new AbortController()
  #failure: MainstemError | undefined
  #ended: Promise<void> | undefined

  private constructor(setup: RunSetup, wired: Wired, session: Session, pace: Pace) {
    this.sessionId = session.id
    this.#setup = setup
    this.#wired = wired
    this.#session = session
    this.#pace = pace
  }

  /** Rejects when nothing was started. */
  static async start(setup: RunSetup): Promise<Run> {
    const { agent, settings, prompt, options } = setup
    const request = sessionRequest(agent, options)
    const pace = new Pace()
    const wired = wire({
      agents: [agent],
      settings: { [agent.id]: settings },
      journal: false,
      room: () => pace.room(),
    })
    try {
      const session = await wired.sessions.create(request)
      pace.measure(() => wired.sessions.head(session.id))
      const run = new Run(setup, wired, session, pace)
      const turn = await session.prompt(prompt)
      void run.#endWith(turn)
      if (options.abortSignal) run.#interruptOn(options.abortSignal)
      return run
    } catch (thrown) {
      await wired[Symbol.asyncDispose]()
      throw thrown
    }
  }

  /** Ends with `done`, unless the reader wants no more. */
  async *events(stop: AbortSignal): AsyncGenerator<AgentEvent, void, void> {
    const state = agentEvents.initial({})
    let begun = false
    const leave = AbortSignal.any([stop, this.#over.signal])
    for await (const batch of this.#wired.sessions.follow(this.sessionId, 0, leave)) {
      for (const entry of batch) {
        for (const event of agentEvents.project(state, entry)) {
          begun = true
          if (event.type === 'permission_request' && entry.event.type === 'request.opened') {
            if (isAskedHere(entry.event)) this.#decide(entry.event, jsonCopy(event.payload))
          }
          if (event.type === 'done') this.#keepNativeId()
          // A copy: editing it must change neither a later event nor what the agent runs.
          yield jsonCopy(event)
          if (event.type === 'done') return
        }
        this.#pace.reached(entry.seq)
      }
    }
    if (this.#failure) yield* this.#broken(this.#failure, begun)
  }

  *#broken(failure: MainstemError, begun: boolean): Generator<AgentEvent> {
    const { id, options } = this.#setup
    const untold = { agent: id, sessionId: this.sessionId, startedAt: this.#startedAt, options }
    if (!begun) yield initOf(untold)
    yield* endOf(untold, failure)
  }

  /** Stops what is running; settles when no process is left. */
  end(): Promise<void> {
    this.#ended ??= this.#end()
    return this.#ended
  }

  async #end(): Promise<void> {
    this.#over.abort()
    this.#pace.free()
    this.#keepNativeId()
    await this.#wired[Symbol.asyncDispose]()
  }

  #keepNativeId(): void {
    const { nativeSessionId } = this.#session
    if (nativeSessionId !== undefined) keepNativeId(this.#setup.agent.id, this.sessionId, nativeSessionId)
  }

  #interruptOn(signal: AbortSignal): void {
    const interrupt = () => void this.#session.interrupt().catch((thrown) => this.#fail(thrown))
    signal.addEventListener('abort', interrupt, { signal: this.#over.signal })
    // It may have fired while the session was being made.
    if (signal.aborted) interrupt()
  }

  /** The process goes with its turn, however far the reader is. */
  async #endWith(turn: number): Promise<void> {
    try {
      await this.#session.settled(turn)
    } catch (thrown) {
      this.#fail(thrown)
    }
    // What could not be ended now is ended with the run.
    await Promise.allSettled([this.#wired.sessions.end(this.sessionId)])
  }

  #decide(request: RequestOpened, asked: PermissionRequestPayload): void {
    this.#answer(request, asked).catch((thrown) => this.#fail(thrown))
  }

  async #answer(request: RequestOpened, asked: PermissionRequestPayload): Promise<void> {
    const { requestId, inputDigest, kind, tool, toolKind } = request
    const { agent, options } = this.#setup
    const call = { canonicalName: agent.tools?.canonical({ tool, toolKind }) ?? asked.toolName }
    const decision = await decisionOf(options.canUseTool, kind, asked.toolName, asked.input, call)
    try {
      await this.#session.answer({ type: 'answer', requestId, inputDigest, ...decision })
    } catch (thrown) {
      const { code, message } = toMainstemError(thrown)
      // The agent has withdrawn or replaced its question, or is gone.
      if (code === 'request_not_found' || code === 'conflict' || this.#over.signal.aborted) return
      // A yes that the agent does not offer must not leave it waiting.
      await this.#session.answer({ type: 'answer', requestId, inputDigest, ...deny(message) })
    }
  }

  /** The log can no longer be trusted to reach its end. */
  #fail(thrown: unknown): void {
    if (this.#over.signal.aborted) return
    this.#failure = toMainstemError(thrown)
    this.#over.abort()
  }
}
