import type { RequestOpened } from '../model/events/request.ts'
import type {
  AgentId,
  Entry,
  EventType,
  LaunchKind,
  Policy,
  SessionOptions,
  SessionRecord,
} from '../model/index.ts'
import type { RetryOptions } from './resume.ts'
import type { ServerNotice } from './server-types.ts'
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
  /** A new branch: the session works in a new git worktree of it, beside the repository of `cwd`, from its last commit. */
  worktree?: string
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
  /** Called when the server cannot write its store, and when it can again. */
  onNotice?: (notice: ServerNotice) => void
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
