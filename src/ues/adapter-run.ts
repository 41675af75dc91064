import type { Agent } from '../agents/agent.ts'
import { IN_PROCESS } from '../attend/in-process.ts'
import { submitAnswer } from '../attend/submit-answer.ts'
import { type Wired, wire } from '../compose/wire.ts'
import type { AgentEvent, PermissionRequestPayload } from '../dialects/ues/ues-event.ts'
import { agentEvents } from '../dialects/ues.ts'
import type { RequestOpened } from '../model/events/request.ts'
import { type MainstemError, toMainstemError } from '../model/index.ts'
import { isForPerson } from '../model/request/for-person.ts'
import { jsonCopy, tryJson } from '../model/text/json.ts'
import type { AgentSettings } from '../sessions/deps.ts'
import type { Session } from '../sessions/session.ts'
import type { AgentOptions, ToolCallInfo } from './adapter.ts'
import type { AgentId } from './agent-id.types.ts'
import { decisionOf } from './approve.ts'
import { Backpressure } from './backpressure.ts'
import { rememberNativeId, sessionRequest } from './session-request.ts'
import { endOf, initOf } from './synthetic-events.ts'

/** A run to start. */
export interface RunRequest {
  /** The id of the agent in events. */
  id: AgentId
  agent: Agent
  settings: AgentSettings
  prompt: string
  options: AgentOptions
}

/** Runs one prompt with one agent: a session with a single turn and its own log, deleted at the end. */
export class AdapterRun {
  readonly sessionId: string
  readonly #request: RunRequest
  readonly #wired: Wired
  readonly #session: Session
  readonly #backpressure: Backpressure
  readonly #startedAt = Date.now()
  readonly #over = new AbortController()
  #failure: MainstemError | undefined
  #ended: Promise<void> | undefined

  private constructor(request: RunRequest, wired: Wired, session: Session, backpressure: Backpressure) {
    this.sessionId = session.id
    this.#request = request
    this.#wired = wired
    this.#session = session
    this.#backpressure = backpressure
  }

  /** Starts the run. Rejects if the session or its turn cannot start. */
  static async start(request: RunRequest): Promise<AdapterRun> {
    const { agent, settings, prompt, options } = request
    const newSession = sessionRequest(agent, options)
    const backpressure = new Backpressure()
    const wired = wire({
      agents: [agent],
      settings: { [agent.id]: settings },
      journal: false,
      audit: false,
      room: () => backpressure.ready(),
    })
    try {
      const session = await wired.sessions.create(newSession, undefined, IN_PROCESS)
      backpressure.measure(() => wired.sessions.head(session.id))
      const run = new AdapterRun(request, wired, session, backpressure)
      const turn = await session.prompt(prompt, [], IN_PROCESS)
      void run.#endWith(turn)
      if (options.abortSignal) run.#interruptOn(options.abortSignal)
      return run
    } catch (thrown) {
      await wired[Symbol.asyncDispose]()
      throw thrown
    }
  }

  /** The events up to `done`, or until `stop` is aborted. */
  async *events(stop: AbortSignal): AsyncGenerator<AgentEvent, void, void> {
    const state = agentEvents.initial({})
    let begun = false
    const leave = AbortSignal.any([stop, this.#over.signal])
    for await (const batch of this.#wired.sessions.follow(this.sessionId, 0, leave)) {
      for (const entry of batch) {
        for (const event of agentEvents.project(state, entry)) {
          begun = true
          if (event.type === 'permission_request' && entry.event.type === 'request.opened') {
            if (isForPerson(entry.event)) this.#decide(entry.event, jsonCopy(event.payload))
          }
          if (event.type === 'done') this.#rememberNativeId()
          // A copy, because a consumer may edit it: later events and the input of the tool must not change.
          yield this.#withStructured(jsonCopy(event))
          if (event.type === 'done') return
        }
        this.#backpressure.acknowledge(entry.seq)
      }
    }
    if (this.#failure) yield* this.#broken(this.#failure, begun)
  }

  /** Some agents send a structured answer as text only. */
  #withStructured(event: AgentEvent): AgentEvent {
    const { outputSchema } = this.#request.options
    if (!outputSchema || event.type !== 'done' || event.payload.status !== 'success') return event
    const structured = event.metadata?.structured ?? tryJson(event.payload.result ?? '')
    return structured === undefined ? event : { ...event, metadata: { ...event.metadata, structured } }
  }

  /** The events of a run whose log failed. */
  *#broken(failure: MainstemError, begun: boolean): Generator<AgentEvent> {
    const { id, options } = this.#request
    const unlogged = { agent: id, sessionId: this.sessionId, startedAt: this.#startedAt, options }
    if (!begun) yield initOf(unlogged)
    yield* endOf(unlogged, failure)
  }

  /** Stops the run. Resolves when all its processes have exited. */
  end(): Promise<void> {
    this.#ended ??= this.#end()
    return this.#ended
  }

  async #end(): Promise<void> {
    this.#over.abort()
    this.#backpressure.release()
    this.#rememberNativeId()
    await this.#wired[Symbol.asyncDispose]()
  }

  #rememberNativeId(): void {
    const { nativeSessionId } = this.#session
    if (nativeSessionId !== undefined)
      rememberNativeId(this.#request.agent.id, this.sessionId, nativeSessionId)
  }

  #interruptOn(signal: AbortSignal): void {
    const interrupt = () =>
      void this.#session.interrupt(undefined, IN_PROCESS).catch((thrown) => this.#fail(thrown))
    signal.addEventListener('abort', interrupt, { signal: this.#over.signal })
    // The signal may have fired while the session was created.
    if (signal.aborted) interrupt()
  }

  /** Ends the process with its turn, even if the consumer has not read all events. */
  async #endWith(turn: number): Promise<void> {
    try {
      await this.#session.settled(turn)
    } catch (thrown) {
      this.#fail(thrown)
    }
    // If this fails, `end` ends the session.
    await Promise.allSettled([this.#wired.sessions.end(this.sessionId, IN_PROCESS)])
  }

  #decide(request: RequestOpened, asked: PermissionRequestPayload): void {
    this.#answer(request, asked).catch((thrown) => this.#fail(thrown))
  }

  async #answer(request: RequestOpened, asked: PermissionRequestPayload): Promise<void> {
    const { requestId, inputDigest, kind } = request
    const { canUseTool } = this.#request.options
    const info = callInfo(request, asked.toolName)
    const decided = await decisionOf(canUseTool, kind, asked.toolName, asked.input, info)
    const identified = { requestId, inputDigest }
    const answered =
      'failure' in decided
        ? this.#session.decline(identified, decided.failure)
        : this.#session.answer({ type: 'answer', ...identified, ...decided }, IN_PROCESS)
    await submitAnswer(answered, async (thrown) => {
      if (this.#over.signal.aborted) return
      await this.#session.decline(identified, toMainstemError(thrown).message)
    })
  }

  /** Ends the stream with an error, because the log may not reach its end. */
  #fail(thrown: unknown): void {
    if (this.#over.signal.aborted) return
    this.#failure = toMainstemError(thrown)
    this.#over.abort()
  }
}

/** A copy, because the callback may edit it. */
function callInfo(request: RequestOpened, toolName: string): ToolCallInfo {
  const { canonicalName = toolName, permission, title, locations, data } = request
  return jsonCopy({
    canonicalName,
    ...(permission !== undefined && { permission }),
    ...(title !== undefined && { title }),
    ...(locations && { locations }),
    ...(data !== undefined && { data }),
  })
}
