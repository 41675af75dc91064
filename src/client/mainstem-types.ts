import type { Role } from '../model/access.ts'
import type { RequestOpened } from '../model/events/request.ts'
import type {
  AgentId,
  Capabilities,
  Entry,
  EventType,
  LaunchKind,
  Policy,
  SessionOptions,
  SessionRecord,
  Usage,
} from '../model/index.ts'
import type { RetryOptions } from './resume.ts'
import type { Timers } from './timers.ts'
import type { ConnectionOptions } from './transports/connection.ts'

/** Options of a `MainstemClient`. */
export interface MainstemClientOptions extends ConnectionOptions {
  /** When to reconnect. */
  retry?: RetryOptions
  /** Replaces the timers in tests. */
  timers?: Timers
  /** Replaces the random numbers in tests, from 0 to 1. */
  random?: () => number
}

/** A session to start. */
export interface BeginSession {
  /** The id of the agent. */
  agent: AgentId
  /** How to run the agent; `live` by default, for agents that have both. */
  launch?: LaunchKind
  /** The agent's working directory; that of the server by default. */
  cwd?: string
  /** What the agent may do. By default every request needs approval. */
  policy?: Partial<Policy>
  /** Options such as the model, the system prompt and MCP servers. */
  options?: SessionOptions
  /** The agent's own id of a conversation to continue. */
  resume?: string
  /** A name to find the session by. */
  name?: string
  /** False if no person can answer; requests that the policy does not decide are then denied. */
  attended?: boolean
  /** Variables of the caller that the agent gets instead of the server's, such as API keys. No log has them. */
  keys?: Readonly<Record<string, string>>
  /** The first prompt. */
  prompt?: string
}

/** A session that was started. */
export interface BegunSession extends Pick<SessionRecord, 'id' | 'agent' | 'launch' | 'cwd' | 'createdAt'> {
  /** The number of the first turn, if there was a prompt. */
  turn?: number
}

/** A session that was imported. */
export interface ImportedSession {
  /** The id of the session, which is that of the export. */
  id: string
  /** The number of entries in the export. */
  entries: number
  /** False if the session was there already, and nothing was changed. */
  isNew: boolean
}

/** Selects sessions. */
export interface SessionQuery {
  /** Only sessions with this status. */
  status?: SessionRecord['status']
  /** Only sessions with open requests, or only those without. */
  asking?: boolean
  /** Only sessions with queued prompts, also those that continue later, or only those without. */
  queued?: boolean
  /** Only sessions whose last turn failed and that do not work again, as `isFailed` says, or only the others. */
  failed?: boolean
  /** The `next` of the page before. */
  before?: string
  /** The most sessions on the page. */
  limit?: number
}

/** A page of sessions. */
export interface SessionPage {
  /** The sessions, newest first. */
  sessions: readonly SessionRecord[]
  /** Pass it as `before` to get the next page. */
  next?: string
}

/** An open request with its session. */
export interface OpenRequest
  extends Pick<SessionRecord, 'agent' | 'cwd' | 'title'>,
    Pick<Entry, 'seq' | 'turn' | 'at'> {
  /** The id of the session. */
  session: string
  /** The request. */
  request: RequestOpened
}

/** The state of a stream: `connecting` before each attempt, `closed` after a connection ended or broke. */
export type ConnectionState = 'connecting' | 'open' | 'closed'

interface ReadingOptions {
  /** Stops reading. The session continues. */
  signal?: AbortSignal
  /** Called when the state of the connection changes. The stream reconnects by itself. */
  onConnection?: (state: ConnectionState) => void
}

/** Options of `entries`. */
export interface EntriesOptions extends ReadingOptions {
  /** The last `seq` you have. */
  after?: number
}

/** Options of `live`. */
export interface LiveOptions extends ReadingOptions {
  /** The `cursor` of the last entry you have. Without it, the stream starts with new entries. */
  after?: string
  /** Only these events. */
  types?: readonly EventType[]
}

/** An entry of any session, with its position in the stream of all sessions. */
export interface LiveEntry extends Entry {
  /** Pass it as `after` to continue after this entry. */
  cursor: string
}

/** Selects a page of a log. */
export interface PageQuery {
  /** The last `seq` you have. */
  after?: number
  /** The most entries on the page; 100 by default, at most 1000. */
  limit?: number
  /** Only these events. */
  types?: readonly EventType[]
  /** Adds the raw frame that each entry came from. */
  raw?: boolean
  /** The dialect of the messages; `mainstem` by default. */
  dialect?: string
}

/** A page of a log. */
export interface EntryPage {
  /** The entries, in the dialect `mainstem`. */
  entries?: readonly (Entry & { raw?: string })[]
  /** The messages, in other dialects. */
  messages?: readonly unknown[]
  /** Pass it as `after` to get the next page. */
  next: string
}

/** Selects a page of raw frames. */
export interface FrameQuery {
  /** The number of the last frame you have. */
  after?: number
  /** The most frames on the page; 100 by default, at most 1000. */
  limit?: number
}

/** A raw frame: what the agent wrote, or what was written to it. */
export interface RawFrame {
  /** Its number in the order of both directions. An entry came from the frame that its `native` names. */
  frame: number
  /** `sent` for what was written to the agent; any other stream is output of the agent. */
  stream: string
  /** The native text. For `sent`, JSON with the `command` and the `writes` that it became, or its `start`. */
  text: string
}

/** A page of raw frames. */
export interface FramePage {
  /** The frames, in order. */
  frames: readonly RawFrame[]
  /** Pass it as `after` to get the next page. */
  next: number
}

/** A change of mode: a policy, or one of the agent's own modes by name. */
export type ModeChange = { policy: Policy } | { mode: string }

/** The agent that continues a session. */
export interface HandOver {
  /** Its id. */
  agent: string
  /** How it is run; as for a new session by default. */
  launch?: LaunchKind
  /** The model; the default of the agent by default. */
  model?: string
}

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
