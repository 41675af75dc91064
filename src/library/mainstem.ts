/// <reference lib="esnext.disposable" preserve="true" />
import { type AgentReadiness, readiness } from '../compose/readiness.ts'
import { type Wired, wire } from '../compose/wire.ts'
import {
  type AgentId,
  DEFAULT_POLICY,
  type LaunchKind,
  MainstemError,
  type Policy,
  type SessionOptions,
} from '../model/index.ts'
import type { AgentLimits } from '../sessions/deadlines.ts'
import type { AgentSettings } from '../sessions/deps.ts'
import { LogReferences } from './log-references.ts'
import { jsonSchemaOf, type OutputSchema } from './output.ts'
import { AgentSession, type Answerer } from './session.ts'
import { UnreadRetention } from './unread-retention.ts'

export type { AgentReadiness }

/** Options of `mainstem()`. */
export interface MainstemOptions {
  /** Commands and environment variables by agent id, for agents that are not run by their default command. */
  agents?: Readonly<Record<string, AgentSettings>>
  /** Time limits for the start and the exit of an agent, and for its silence before a notice is raised. */
  timeouts?: Partial<AgentLimits>
}

/** A session to start. */
export interface SessionRequest<T = unknown> {
  /** The id of the agent. */
  agent: AgentId
  /** The agent's working directory. */
  cwd: string
  /** How to run the agent; `live` by default, for agents that have both. */
  launch?: LaunchKind
  /** What the agent may do. By default every request needs approval. */
  policy?: Partial<Policy>
  /** Options such as the model, the system prompt and MCP servers. */
  options?: SessionOptions
  /** The `nativeSessionId` of an earlier session to continue. */
  resume?: string
  /** Decides the requests that the policy leaves to a person. Without it, call `answer` for `request.opened` entries. */
  onRequest?: Answerer
  /**
   * `all` keeps every entry in memory, so that it can be read again. `unread` evicts entries that every subscriber has
   * read, for sessions that run for a long time. `all` by default.
   */
  keep?: 'all' | 'unread'
  /** The schema of the answers, of zod or another library that implements Standard Schema. */
  output?: OutputSchema<T>
}

/** Runs sessions in this process, without a server. Disposing ends all of them. */
export class Mainstem implements AsyncDisposable {
  readonly #settings: Readonly<Record<string, AgentSettings>>
  readonly #wired: Wired
  readonly #logs: LogReferences

  constructor({ agents = {}, timeouts = {} }: MainstemOptions = {}) {
    this.#settings = agents
    this.#wired = wire({ settings: agents, agentLimits: timeouts, journal: false })
    this.#logs = new LogReferences(this.#wired.sessions)
  }

  /** Lists all agents, and whether each is ready to use. Runs their programs only to get their versions. */
  agents({ signal }: { signal?: AbortSignal } = {}): Promise<AgentReadiness[]> {
    return readiness({ settings: this.#settings, ...(signal && { signal }) })
  }

  /** Starts a session. Rejects, before the agent starts, if the agent does not support an option. */
  async session<T>(request: SessionRequest<T>): Promise<AgentSession<T>> {
    const { policy, onRequest, output, options, keep = 'all', ...rest } = request
    if (keep !== 'all' && keep !== 'unread')
      throw new MainstemError(
        'invalid_request',
        `keep must be 'all' or 'unread', not ${JSON.stringify(keep)}`,
      )
    const { sessions } = this.#wired
    const session = await sessions.create({
      ...rest,
      policy: { ...DEFAULT_POLICY, ...policy },
      options: { ...options, ...(output && { outputSchema: jsonSchemaOf(output) }) },
    })
    const retention =
      keep === 'unread' ? new UnreadRetention((seq) => sessions.trim(session.id, seq)) : undefined
    const log = this.#logs.create(session.id)
    return new AgentSession({ sessions, session, log, retention }, onRequest, output)
  }

  /** Ends all sessions and their processes. `await using` calls it at the end of the block. */
  async close(): Promise<void> {
    await this.#wired[Symbol.asyncDispose]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Creates a `Mainstem`: one event stream for every coding agent, in this process. */
export function mainstem(options?: MainstemOptions): Mainstem {
  return new Mainstem(options)
}
