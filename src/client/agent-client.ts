import { translateError } from './agent-error.ts'
import type { AgentRequest, AgentType, SessionConfig } from './config.ts'
import type { RequestOpenedEvent } from './event.ts'
import type { ProtocolAdapter } from './protocol-adapter.ts'
import type { RetryOptions } from './resume.ts'
import { selectTransport } from './select-transport.ts'
import { Session } from './session.ts'
import { systemTimers, type Timers } from './timers.ts'
import { type Cursor, type RequestAnswer, type SessionSummary, START, type Transport } from './transport.ts'

/** What all sessions of a client have in common. */
export interface ClientConfig extends Pick<SessionConfig, 'workingDirectory' | 'projectId' | 'model'> {
  baseUrl?: string
  token?: string
}

export interface AgentClientOptions {
  agentType: AgentType
  config?: ClientConfig
  /** The way to the server; chosen by what works unless it is given. */
  transport?: Transport
  /** For a server, or a recording, that speaks an agent's own words. */
  adapter?: ProtocolAdapter
  retry?: RetryOptions
  timers?: Timers
  random?: () => number
}

export interface CreateSession {
  prompt: string
  config?: Omit<SessionConfig, 'agentType'>
  /** Makes it safe to send the same request again, where the server knows such keys. */
  idempotencyKey?: string
  /** Cancels the session, whenever it fires. To stop reading alone, leave the loop. */
  signal?: AbortSignal
}

export interface ResumeSession extends CreateSession {
  sessionId: string
  /** Where its `events` begin; with the new prompt unless it is said. */
  after?: Cursor
}

/** One agent on a server that speaks the unified protocol. */
export class AgentClient {
  readonly agentType: AgentType
  readonly #config: ClientConfig
  readonly #transport: Transport
  readonly #options: AgentClientOptions

  constructor(options: AgentClientOptions) {
    const { agentType, config = {}, transport } = options
    const { baseUrl, token } = config
    this.agentType = agentType
    this.#config = config
    this.#options = options
    this.#transport =
      transport ??
      selectTransport({ ...(baseUrl !== undefined && { baseUrl }), ...(token !== undefined && { token }) })
  }

  /** Begins a session with a first prompt. A request that failed is not sent again: the session may have begun. */
  async createSession(request: CreateSession): Promise<Session> {
    return this.#translated(() => this.#begin(this.#requestOf(request), request, START), request.signal)
  }

  /** Goes on with a session that ended. */
  async resumeSession({ sessionId, after, ...request }: ResumeSession): Promise<Session> {
    return this.#translated(async () => {
      const from = after ?? { count: await this.#transport.count(sessionId, 0, request.signal) }
      return this.#begin({ ...this.#requestOf(request), sessionId }, request, from)
    }, request.signal)
  }

  /** A session that exists, without a prompt: to follow it from another place, or to cancel it. */
  session(id: string, after: Cursor = START): Session {
    const { adapter, timers = systemTimers, random = Math.random, retry = {} } = this.#options
    const { agentType } = this
    return new Session({
      id,
      agentType,
      from: after,
      transport: this.#transport,
      adapter,
      timers,
      random,
      retry,
    })
  }

  async list(): Promise<readonly SessionSummary[]> {
    return this.#translated(() => this.#transport.list())
  }

  async cancel(sessionId: string): Promise<void> {
    return this.#translated(() => this.#transport.cancel(sessionId))
  }

  /** Answers a `requestOpened` event, for which its session waits. */
  async answer(request: RequestOpenedEvent, answer: Omit<RequestAnswer, 'inputDigest'>): Promise<void> {
    return this.session(request.sessionId).answer(request, answer)
  }

  async #begin(
    request: AgentRequest,
    { signal, idempotencyKey }: CreateSession,
    from: Cursor,
  ): Promise<Session> {
    signal?.throwIfAborted()
    // Not cut off by the signal: whatever began would go on, and nobody would know its id.
    const { id } = await this.#transport.create(this.#bodyOf(request), { idempotencyKey })
    const session = this.session(id, from)
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
    const { baseUrl: _, token: __, ...common } = this.#config
    return { agentType: this.agentType, prompt, config: { ...common, ...config } }
  }

  #bodyOf(request: AgentRequest): unknown {
    const native = this.#options.adapter?.translateRequest(request)
    return native?.kind === 'http' ? native.body : (native ?? request)
  }

  /** What a caller's own signal throws is the caller's own. */
  async #translated<Answer>(call: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    try {
      return await call()
    } catch (thrown) {
      throw signal?.aborted ? thrown : translateError(thrown, this.agentType)
    }
  }
}
