import type { AgentRequest, AgentType, SessionConfig } from './config.ts'
import type { AgentEvent } from './event.ts'

/** What a program or a server takes in the place of a request. */
export type NativeRequest =
  | {
      kind: 'process'
      argv: readonly [string, ...string[]]
      env: Readonly<Record<string, string>>
      /** Where to run it; absent where the request names no directory. */
      cwd?: string
      input: string
    }
  | { kind: 'http'; method: string; path: string; body: unknown }

/** What a client knows of the session whose lines are adapted. */
export interface AdaptedSession {
  agentType?: AgentType
}

/** Translates between one agent's own words and those of the unified protocol. */
export interface ProtocolAdapter {
  /** What the agent writes, as lines or as parsed values, in the unified protocol. */
  adaptEvents(
    nativeEvents: AsyncIterable<unknown> | Iterable<unknown>,
    session?: AdaptedSession,
  ): AsyncIterable<AgentEvent>
  /** How the agent is asked. What it cannot keep to is refused, never left out. */
  translateRequest(request: AgentRequest): NativeRequest
  /** The agent's own settings as a session would have them. */
  translateConfig(nativeConfig: Readonly<Record<string, unknown>>): SessionConfig
}
