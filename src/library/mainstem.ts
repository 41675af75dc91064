/// <reference lib="esnext.disposable" preserve="true" />
import { type AgentReadiness, readiness } from '../compose/readiness.ts'
import { type Wired, wire } from '../compose/wire.ts'
import {
  DEFAULT_POLICY,
  type LaunchKind,
  MainstemError,
  type Policy,
  type SessionOptions,
} from '../model/index.ts'
import type { AgentLimits } from '../sessions/deadlines.ts'
import type { AgentSettings } from '../sessions/deps.ts'
import { HeldLogs } from './held-logs.ts'
import { jsonSchemaOf, type OutputSchema } from './output.ts'
import { Readers } from './readers.ts'
import { AgentSession, type Answerer } from './session.ts'

export type { AgentReadiness }

export interface MainstemOptions {
  /** Another program for an agent, and variables for it, by agent id. */
  agents?: Readonly<Record<string, AgentSettings>>
  /** How long an agent may take to start and to exit, and be silent before a notice reports it. */
  timeouts?: Partial<AgentLimits>
}

export interface SessionRequest<T = unknown> {
  agent: string
  /** The agent's working directory. */
  cwd: string
  launch?: LaunchKind
  /** Asks before anything happens, unless told otherwise. */
  policy?: Partial<Policy>
  options?: SessionOptions
  /** The agent's own session to go on with. */
  resume?: string
  /** Decides what the policy leaves to a person; without it, answer the `request.opened` entries yourself. */
  onRequest?: Answerer
  /**
   * Everything that was said stays in memory and can be read again, unless only what is unread is kept: then a session
   * may go on for ever, and what its readers have passed is gone.
   */
  keep?: 'all' | 'unread'
  /** The shape of the answers: a schema of zod or another library that follows Standard Schema. */
  output?: OutputSchema<T>
}

/** Sessions in this process, without a server. Disposing of it ends them all. */
export class Mainstem implements AsyncDisposable {
  readonly #settings: Readonly<Record<string, AgentSettings>>
  readonly #wired: Wired
  readonly #logs: HeldLogs

  constructor({ agents = {}, timeouts = {} }: MainstemOptions = {}) {
    this.#settings = agents
    this.#wired = wire({ settings: agents, agentLimits: timeouts, journal: false })
    this.#logs = new HeldLogs(this.#wired.sessions)
  }

  /** Which agents can be used here, and what the others need. Their programs are asked for their version only. */
  agents({ signal }: { signal?: AbortSignal } = {}): Promise<AgentReadiness[]> {
    return readiness({ settings: this.#settings, ...(signal && { signal }) })
  }

  /** Refuses what the agent cannot do before anything has started. */
  async session<T>(request: SessionRequest<T>): Promise<AgentSession<T>> {
    const { policy, onRequest, output, options, keep = 'all', ...rest } = request
    if (keep !== 'all' && keep !== 'unread')
      throw new MainstemError('invalid_request', `keep: 'all' or 'unread', not ${JSON.stringify(keep)}`)
    const { sessions } = this.#wired
    const session = await sessions.create({
      ...rest,
      policy: { ...DEFAULT_POLICY, ...policy },
      options: { ...options, ...(output && { outputSchema: jsonSchemaOf(output) }) },
    })
    const readers = keep === 'unread' ? new Readers((seq) => sessions.letGo(session.id, seq)) : undefined
    const hold = this.#logs.hold(session.id)
    return new AgentSession({ sessions, session, hold, readers }, onRequest, output)
  }

  /** Ends all sessions and their processes. `await using` calls it at the end of the block. */
  async close(): Promise<void> {
    await this.#wired[Symbol.asyncDispose]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** One event stream for every coding agent. */
export function mainstem(options?: MainstemOptions): Mainstem {
  return new Mainstem(options)
}
