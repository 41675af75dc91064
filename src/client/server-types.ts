import type { Role } from '../model/access.ts'
import type { Capabilities, LaunchKind, Usage } from '../model/index.ts'

/** Credentials to sign in with: a ticket from `mainstem open`, or a token. */
export type SignIn =
  | {
      ticket: string
      /** Replaces the sign-in of another principal in this browser. */
      replace?: boolean
    }
  | { token: string }

/** A login to add. */
export interface NewLogin {
  /** The SHA-256, in hexadecimal, of a token with 256 random bits that the command line created. */
  digest: string
  /** What the command line calls itself, usually its host. */
  name: string
}

/** A command line that acts for a principal. */
export interface Login {
  /** Pass it to `removeLogin`. */
  id: string
  /** What the command line calls itself. */
  name: string
  /** The principal that it acts for. */
  principal: string
  /** When it was added, in milliseconds since 1970. */
  createdAt: number
  /** True for the login that this client uses. */
  current: boolean
}

/** A token to add. */
export interface NewToken {
  /** The name of its principal. */
  name: string
  /** The SHA-256, in hexadecimal, of a token with 256 random bits that the caller created. */
  digest: string
}

/** A token that an operator added. */
export interface NamedToken {
  /** The name of its principal. */
  name: string
  /** What it may do besides using its own sessions. */
  roles: readonly Role[]
  /** When it was added, in milliseconds since 1970. */
  createdAt: number
  /** Who added it. */
  by: string
}

/** Facts about the server. */
export interface ServerInfo {
  /** The version of Mainstem. */
  version: string
  /** The process id of the server. */
  pid: number
  /** The principal of this client. */
  principal: string
  /** What it may do besides using its own sessions: `operator` runs the server for others. */
  roles: readonly Role[]
  /** False if the server requires no token. */
  authentication: boolean
  /** The default working directory of agents. */
  cwd: string
  /** The directories that agents may work in. */
  roots: readonly string[]
  /** What `keys` of a new session may contain, by agent: names, and prefixes that end in `*`. */
  variables?: Readonly<Record<string, readonly string[]>>
  /** The server cannot store anything since this time, so no turn makes progress. */
  degraded?: { code: 'storage_failed'; message: string; since: number }
  /** The clock of the server, in milliseconds since 1970. */
  now: number
}

/** An agent of the server. */
export interface AgentInfo {
  /** The id of the agent. */
  id: string
  /** The name of the agent for people. */
  name: string
  /** Whether the agent can be used. */
  state: 'built_in' | 'missing' | 'broken' | 'needs_login' | 'installed' | 'ready'
  /** The version of its program. */
  version?: string
  /** The launches that the agent has, with their features. */
  launches: Partial<Record<LaunchKind, Capabilities>>
  /** The credentials that were found, by name only. */
  credentials: readonly ({ variable: string; launch?: LaunchKind } | { file: string })[]
  /** A problem or a remark for people. */
  note?: string
  /** The command that fixes the problem. */
  fix?: string
}

/** A server among those that share a store. */
export interface ServerNode {
  /** The name of the node. */
  name: string
  /** `lost`: the node did not renew its registration in time. */
  state: 'ready' | 'draining' | 'lost'
  /** True for the node that answered. */
  self: boolean
  /** Where clients reach the node, if its operator configured it. */
  url?: string
  /** The version of Mainstem. */
  version: string
  /** Sessions can require labels. */
  labels: readonly string[]
  /** The directories that its agents may work in. */
  roots: readonly string[]
  /** The number of agent processes. */
  processes: number
  /** How many there may be. */
  maxProcesses: number
  /** Milliseconds since the node renewed its registration. */
  seenMs: number
}

/** Usage of a group of sessions. */
export interface UsageTotals {
  /** The number of sessions. */
  sessions: number
  /** The number of turns. */
  turns: number
  /** Tokens and cost. */
  usage: Usage
}

/** Usage of one principal with one agent and one model on one day. */
export interface DailyUsage extends UsageTotals {
  /** The day in UTC, such as `2026-01-31`. */
  day: string
  /** The principal that owns the sessions. */
  principal: string
  /** The id of the agent. */
  agent: string
  /** The model; absent if the agent named none. */
  model?: string
}

/** Which usage to report. */
export interface UsageQuery {
  /** The first day, in UTC. */
  from?: string
  /** The last day, in UTC. */
  to?: string
  /** The usage of all principals; only with the token of the server's own principal. */
  all?: boolean
}

/** Usage of a principal, or of all of them. */
export interface UsageReport {
  /** All usage. */
  total: UsageTotals
  /** Usage by agent id. */
  agents: Readonly<Record<string, UsageTotals>>
  /** Usage by the model in use when a turn ended; `unknown` if the agent named none. */
  models: Readonly<Record<string, UsageTotals>>
  /** Usage by principal. */
  principals: Readonly<Record<string, UsageTotals>>
  /** Usage by day, in UTC. */
  days: Readonly<Record<string, UsageTotals>>
  /** One row for each day, principal, agent and model. */
  rows: readonly DailyUsage[]
}

/** The server cannot write its store, so no turn makes progress, or can write it again. In no log. */
export type ServerNotice =
  | {
      /** The store cannot be written. */
      type: 'server.degraded'
      /** The code of the failure. */
      code: 'storage_failed'
      /** What failed, for people. */
      message: string
      /** When it was noticed, in milliseconds since 1970. */
      since: number
    }
  | {
      /** The store can be written again. */
      type: 'server.recovered'
    }
