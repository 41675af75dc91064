// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { SessionName } from '../ids.types.ts'
import type { ErrorInfo } from '../outcome/errors.types.ts'
import type { Capabilities, LaunchKind } from '../session/capability.types.ts'
import type { Policy } from '../session/policy.types.ts'

/** A model, a mode or another choice that the agent offers. */
export type Named = {
  /** The id to select it with. */
  id: string
  /** A name for people. */
  name?: string | undefined
  /** A description for people. */
  description?: string | undefined
}

/** A setting of the agent that a client can show. */
export type ConfigOption = {
  /** The agent's id of the setting. */
  id: string
  /** A name for people. */
  name?: string | undefined
  /** The agent's category of the setting. */
  category?: string | undefined
  /** The current value. */
  value?: unknown
  /** The values to choose from. */
  choices?: Named[] | undefined
}

/** The first event of every session. */
export type SessionStarted = {
  /** Narrows the union. */
  type: 'session.started'
  /** The id of the agent. */
  agent: string
  /** How the agent is run. */
  launch: LaunchKind
  /** The agent's working directory. */
  cwd: string
  /** The project that the client named. */
  project?: string | undefined
  /** The name that the client gave the session. */
  name?: SessionName | undefined
  /** The policy at the start. */
  policy: Policy
  /** The features of this launch of the agent. */
  capabilities: Capabilities
  /** The model that the client requested. */
  model?: string | undefined
  /** The agent's own session that this one continues. */
  resumedFrom?: string | undefined
}

/** A change of the session, with the changed fields only. The agent's handshake is the first of these. */
export type SessionUpdated = {
  /** Narrows the union. */
  type: 'session.updated'
  /** The agent's own id of the conversation; pass it as `resume`. */
  nativeSessionId?: string | undefined
  /** The version of the agent's program. */
  agentVersion?: string | undefined
  /** The model in use. */
  model?: string | undefined
  /** The models to choose from. */
  models?: Named[] | undefined
  /** The agent's own names of its tools. */
  tools?: string[] | undefined
  /** The policy from now on. */
  policy?: Policy | undefined
  /** The agent's own mode. */
  mode?: string | undefined
  /** The agent's own modes to choose from. */
  modes?: Named[] | undefined
  /** A title for people. */
  title?: string | undefined
  /** The name that a client gave the session; `null` if it was removed. */
  name?: SessionName | null | undefined
  /** The agent's own slash commands. */
  commands?: string[] | undefined
  /** The agent's own settings. */
  configOptions?: ConfigOption[] | undefined
}

/** The agent of a session before another one continued it. */
export type FormerAgent = {
  /** The id of the agent. */
  agent: string
  /** How the agent was run. */
  launch: LaunchKind
  /** The model in use. */
  model?: string | undefined
  /** The agent's own id of the conversation. */
  nativeSessionId?: string | undefined
}

/**
 * Another agent continues the session, in a new conversation of its own. Its first prompt begins with the
 * recap.
 */
export type SessionHandedOver = {
  /** Narrows the union. */
  type: 'session.handed_over'
  /** The agent that worked on the session before. */
  from: FormerAgent
  /** The id of the agent that continues. */
  agent: string
  /** How it is run. */
  launch: LaunchKind
  /** The policy from now on. */
  policy: Policy
  /** The features of this launch of the agent. */
  capabilities: Capabilities
  /** The model that the client requested. */
  model?: string | undefined
  /** The last entry that the recap covers. */
  through: number
  /**
   * What the agent is told of the session before its first prompt. Mainstem made it from the log, by rule.
   */
  recap: string
  /** The number of earlier turns that the recap leaves out. */
  omitted?: number | undefined
}

/** The last event of a session. */
export type SessionEnded = {
  /** Narrows the union. */
  type: 'session.ended'
  /** Why the session ended. `lost`: the process that owned the session went away. */
  reason: 'completed' | 'failed' | 'cancelled' | 'timeout' | 'lost'
  /** The error that ended the session. */
  error?: ErrorInfo | undefined
}
