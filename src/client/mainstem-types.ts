import type { RequestOpened } from '../model/events/request.ts'
import type {
  Capabilities,
  Entry,
  EventType,
  LaunchKind,
  Policy,
  SessionOptions,
  SessionRecord,
  Usage,
} from '../model/index.ts'

export interface BeginSession {
  agent: string
  launch?: LaunchKind
  cwd?: string
  policy?: Partial<Policy>
  options?: SessionOptions
  /** The agent's own id of a conversation to go on with. */
  resume?: string
  /** A name by which people find the session again. */
  name?: string
  /** False when no person can answer: requests that the policy leaves open are denied. */
  attended?: boolean
  prompt?: string
}

export interface BegunSession extends Pick<SessionRecord, 'id' | 'agent' | 'launch' | 'cwd' | 'createdAt'> {
  /** The number of the first turn, if there was a prompt. */
  turn?: number
}

export interface SessionQuery {
  status?: SessionRecord['status']
  asking?: boolean
  before?: string
  limit?: number
}

export interface SessionPage {
  /** Newest first. */
  sessions: readonly SessionRecord[]
  /** `before` for the page after this one. */
  next?: string
}

/** What waits for an answer, and where. */
export interface OpenRequest
  extends Pick<SessionRecord, 'agent' | 'cwd' | 'title'>,
    Pick<Entry, 'seq' | 'turn' | 'at'> {
  session: string
  request: RequestOpened
}

/** The connection of a reader: `connecting` before each attempt, `closed` after a connection ended or broke. */
export type ConnectionState = 'connecting' | 'open' | 'closed'

interface ReadingOptions {
  /** Stops reading, and nothing else. */
  signal?: AbortSignal
  /** Called when the connection changes; the reader reconnects by itself. */
  onConnection?: (state: ConnectionState) => void
}

export interface EntriesOptions extends ReadingOptions {
  /** The last `seq` you have. */
  after?: number
}

export interface LiveOptions extends ReadingOptions {
  /** The `cursor` of the last entry you have; without it, only what happens from now on. */
  after?: string
  /** Only these events. */
  types?: readonly EventType[]
}

/** An entry of any session, with its place in the stream of all sessions. */
export interface LiveEntry extends Entry {
  cursor: string
}

export interface PageQuery {
  /** The last `seq` you have. */
  after?: number
  /** Entries on the page; 100 by default, at most 1000. */
  limit?: number
  /** Only these events. */
  types?: readonly EventType[]
  /** Adds the raw frame that each entry came from. */
  raw?: boolean
  /** The vocabulary of the messages; `mainstem` by default. */
  dialect?: string
}

/** `entries` in our own dialect, `messages` in every other. */
export interface EntryPage {
  entries?: readonly (Entry & { raw?: string })[]
  messages?: readonly unknown[]
  /** `after` for the page that follows. */
  next: string
}

/** What a change of mode asks for: a policy, or a mode of the agent by its native name. */
export type ModeChange = { policy: Policy } | { mode: string }

/** A ticket from `mainstem open`, or a token. */
export type SignIn = { ticket: string } | { token: string }

export interface ServerInfo {
  version: string
  /** The process of the server, on its machine. */
  pid: number
  principal: string
  /** False when the server asks for no token. */
  authentication: boolean
  /** Where agents work unless a session names another directory. */
  cwd: string
  /** Directories that agents may work in. */
  roots: readonly string[]
  /** The clock of the server, in milliseconds since 1970. */
  now: number
}

export interface AgentInfo {
  id: string
  name: string
  state: 'built_in' | 'missing' | 'broken' | 'needs_login' | 'installed' | 'ready'
  version?: string
  launches: Partial<Record<LaunchKind, Capabilities>>
  /** What there is to be billed, by name alone. */
  credentials: readonly ({ variable: string; launch?: LaunchKind } | { file: string })[]
  note?: string
  /** The command that is the next step of its set-up. */
  fix?: string
}

export interface Spent {
  sessions: number
  turns: number
  usage: Usage
}

export interface UsageReport {
  total: Spent
  agents: Readonly<Record<string, Spent>>
  /** By day, in UTC. */
  days: Readonly<Record<string, Spent>>
}

/** One place in a log that a search found. */
export interface SearchHit extends Pick<SessionRecord, 'agent' | 'cwd' | 'title'> {
  session: string
  seq: number
  at: number
  type: EventType
  /** The text around the first word that was found. */
  snippet: string
}
