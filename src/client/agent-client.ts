import type { RequestOpenedEvent } from '../dialects/unified/unified-extension.types.ts'
import type { RequestAnswer } from '../model/index.ts'
import type { AgentRequest, AgentType, SessionConfig } from './config.ts'
import { translateError } from './errors/agent-error.ts'
import type { ProtocolAdapter } from './protocol-adapter.ts'
import type { RetryOptions } from './resume.ts'
import { type ClientSessionDeps, Session } from './session.ts'
import { systemTimers, type Timers } from './timers.ts'
import { selectTransport } from './transports/select-transport.ts'
import { type Cursor, type SessionSummary, START, type Transport } from './transports/transport.ts'

/** Settings that all sessions of a client share. */
export interface ClientConfig extends Pick<SessionConfig, 'workingDirectory' | 'projectId' | 'model'> {
  /** The URL of the server. */
  baseUrl?: string
  /** The token of the server. */
  token?: string
  /** Set to false to receive only the event types of the protocol's document; requests for approval are not among them. */
  extensions?: boolean
}

/** Options of an `AgentClient`. */
export interface AgentClientOptions {
  /** The agent that the client runs. */
  agentType: AgentType
  /** Settings that all sessions share. */
  config?: ClientConfig
  /** The transport to the server. By default the first that connects is used. */
  transport?: Transport
  /** Translates the messages of a server, or of a recording, that uses an agent's own protocol. */
  adapter?: ProtocolAdapter
  /** When to reconnect. */
  retry?: RetryOptions
  /** Replaces the timers in tests. */
  timers?: Timers
  /** Replaces the random numbers in tests, from 0 to 1. */
  random?: () => number
}

/** A session to start. */
export interface CreateSession {
  /** The text of the first prompt. */
  prompt: string
  /** Settings of this session. They override those of the client. */
  config?: Omit<SessionConfig, 'agentType'>
  /** Send the same key again to get the same session, if the server supports idempotency keys. */
  idempotencyKey?: string
  /** Cancels the session. To stop only reading, leave the loop. */
  signal?: AbortSignal
}

/** A session to continue. */
export interface ResumeSession extends CreateSession {
  /** The id of the session. */
  sessionId: string
  /** Where `events` starts, up to the end of the session; by default it has the events of the new prompt only. */
  after?: Cursor
}

/** Where the events of a session begin for a client. */
interface EventsFrom extends Pick<ClientSessionDeps, 'from' | 'earlier'> {
  /** Whether the events are those of the new prompt only. */
  isBound?: boolean
}

/** Runs one agent on a server that supports the unified protocol. */
export class AgentClient {
  /** The agent that the client runs. */
  readonly agentType: AgentType
  readonly #config: ClientConfig
  readonly #transport: Transport
  readonly #options: AgentClientOptions

  constructor(options: AgentClientOptions) {
    const { agentType, config = {}, transport } = options
    const { baseUrl, token, extensions } = config
    this.agentType = agentType
    this.#config = config
    this.#options = options
    this.#transport =
      transport ??
      selectTransport({
        ...(baseUrl !== undefined && { baseUrl }),
        ...(token !== undefined && { token }),
        ...(extensions !== undefined && { extensions }),
      })
  }

  /** Starts a session with a first prompt. Does not retry a failed request, because the session may have started. */
  async createSession(request: CreateSession): Promise<Session> {
    return this.#translated(
      () => this.#begin(this.#requestOf(request), request, { from: START, isBound: true }),
      request.signal,
    )
  }

  /** Sends another prompt to a session. During a turn, the prompt is queued. */
  async resumeSession({ sessionId, after, ...request }: ResumeSession): Promise<Session> {
    return this.#translated(async () => {
      const prompt = { ...this.#requestOf(request), sessionId }
      if (after) return this.#begin(prompt, request, { from: after })
      const count = await this.#transport.count(sessionId, 0, request.signal)
      // An adapter reads from the first message, and its cursors count events instead of messages.
      const start = this.#options.adapter ? { from: START, earlier: count } : { from: { count } }
      return this.#begin(prompt, request, { ...start, isBound: true })
    }, request.signal)
  }

  /** Opens an existing session without a prompt, to read or to cancel it. */
  session(id: string, after: Cursor = START): Session {
    return this.#sessionOf({ id, from: after })
  }

  #sessionOf(place: Pick<ClientSessionDeps, 'id' | 'from' | 'turn' | 'earlier'>): Session {
    const { adapter, timers = systemTimers, random = Math.random, retry = {} } = this.#options
    const { agentType } = this
    return new Session({
      ...place,
      agentType,
      transport: this.#transport,
      adapter,
      extensions: this.#config.extensions ?? true,
      timers,
      random,
      retry,
    })
  }

  /** Lists the sessions of the server. */
  async list(): Promise<readonly SessionSummary[]> {
    return this.#translated(() => this.#transport.list())
  }

  /** Cancels a session. */
  async cancel(sessionId: string): Promise<void> {
    return this.#translated(() => this.#transport.cancel(sessionId))
  }

  /** Answers a `requestOpened` event of any session. */
  async answer(request: RequestOpenedEvent, answer: Omit<RequestAnswer, 'inputDigest'>): Promise<void> {
    return this.session(request.sessionId).answer(request, answer)
  }

  async #begin(
    request: AgentRequest,
    { signal, idempotencyKey }: CreateSession,
    { isBound = false, ...start }: EventsFrom,
  ): Promise<Session> {
    signal?.throwIfAborted()
    // The signal does not abort this call, because a session that started would then run with an unknown id.
    const { id, turn } = await this.#transport.create(this.#bodyOf(request), { idempotencyKey })
    const session = this.#sessionOf({ id, ...start, turn: isBound ? turn : undefined })
    if (signal?.aborted) {
      await session.cancel()
      throw signal.reason
    }
    signal?.addEventListener('abort', () => void session.cancel().catch((thrown: unknown) => thrown), {
      once: true,
    })
    return session
  }

  #requestOf({ prompt, config }: CreateSession): AgentRequest {
    const { baseUrl: _, token: __, extensions: ___, ...common } = this.#config
    return { agentType: this.agentType, prompt, config: { ...common, ...config } }
  }

  #bodyOf(request: AgentRequest): unknown {
    const native = this.#options.adapter?.translateRequest(request)
    return native?.kind === 'http' ? native.body : (native ?? request)
  }

  /** Translates errors, except those of the caller's own signal. */
  async #translated<Answer>(call: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    try {
      return await call()
    } catch (thrown) {
      throw signal?.aborted ? thrown : translateError(thrown, this.agentType)
    }
  }
}
