import type { AgentEvent } from '../dialects/unified/unified-event.types.ts'
import type { AgentRequest, AgentType, SessionConfig } from './config.ts'

/** A request in the agent's own protocol: a process to start, or an HTTP call. */
export type NativeRequest =
  | {
      /** Narrows the union. */
      kind: 'process'
      /** The program and its arguments. */
      argv: readonly [string, ...string[]]
      /** Environment variables. */
      env: Readonly<Record<string, string>>
      /** The working directory; absent if the request has none. */
      cwd?: string
      /** The text to write to stdin. */
      input: string
    }
  | {
      /** Narrows the union. */
      kind: 'http'
      /** The HTTP method. */
      method: string
      /** The path on the server. */
      path: string
      /** The JSON body. */
      body: unknown
    }

/** The settings of an agent as a configuration. */
export interface TranslatedConfig extends SessionConfig {
  /** Settings that a session does not have, by their paths, such as `sandbox_workspace_write.network_access`. */
  untranslated?: Readonly<Record<string, unknown>>
}

/** The session whose messages are adapted. */
export interface AdaptedSession {
  /** The agent of the session. */
  agentType?: AgentType
}

/** Translates between an agent's own protocol and the unified protocol. */
export interface ProtocolAdapter {
  /** Translates the output of the agent, as lines or as parsed values. */
  adaptEvents(
    nativeEvents: AsyncIterable<unknown> | Iterable<unknown>,
    session?: AdaptedSession,
  ): AsyncIterable<AgentEvent>
  /** Translates a request. Throws if the agent does not support a setting. */
  translateRequest(request: AgentRequest): NativeRequest
  /** Translates the agent's own settings. Throws for values that it cannot translate. */
  translateConfig(nativeConfig: Readonly<Record<string, unknown>>): TranslatedConfig
}
