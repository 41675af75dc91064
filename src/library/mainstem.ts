import { type Wired, wire } from '../daemon/wire.ts'
import { DEFAULT_POLICY, type LaunchKind, type Policy, type SessionOptions } from '../model/index.ts'
import type { AgentSettings } from '../sessions/parts.ts'
import { AgentSession, type Answerer } from './session.ts'

export interface MainstemOptions {
  /** Another program for an agent, and variables for it, by agent id. */
  agents?: Readonly<Record<string, AgentSettings>>
}

export interface SessionRequest {
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
}

/** Sessions in this process, without a server. Disposing of it ends them all. */
export class Mainstem implements AsyncDisposable {
  readonly #wired: Wired

  constructor({ agents = {} }: MainstemOptions = {}) {
    this.#wired = wire({ settings: agents, journal: false })
  }

  /** Refuses what the agent cannot do before anything has started. */
  async session({ policy, onRequest, ...request }: SessionRequest): Promise<AgentSession> {
    const { sessions } = this.#wired
    const session = await sessions.create({ ...request, policy: { ...DEFAULT_POLICY, ...policy } })
    return new AgentSession(sessions, session, onRequest)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#wired[Symbol.asyncDispose]()
  }
}

/** One event stream for every coding agent. */
export function mainstem(options?: MainstemOptions): Mainstem {
  return new Mainstem(options)
}
