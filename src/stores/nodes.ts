import type { EventType } from '../model/index.ts'

/** The description that a node publishes. */
export interface NodeInfo {
  /** The address of this node for clients, if configured. */
  url?: string
  version: string
  labels: readonly string[]
  /** Directories below which the agents of this node may work. */
  roots: readonly string[]
  /** The number of agent processes, and the limit. */
  processes: number
  maxProcesses: number
  /** The node is stopping and accepts no new sessions. */
  draining: boolean
}

/** A node as the store knows it. */
export interface RegisteredNode extends NodeInfo {
  name: string
  /** False once the node has not renewed its registration in time. */
  live: boolean
  /** The time since its last renewal, by the clock of the store. */
  seenMs: number
}

/** Work that one node sends to another. The store keeps its text and does not read it. */
export interface NodeCommand {
  id: string
  /** The node that applies it. */
  node: string
  /** Delivered before all others. */
  urgent: boolean
  body: string
}

/** Entries of one session that one commit added. */
export interface StoredCommit {
  /** With `.` and a number of its entries, a position of a reader in the commit log. */
  position: string
  session: string
  principal: string
  /** The first entry, and how many there are. */
  seq: number
  count: number
  /** The number of these entries before the requested position. */
  read: number
}

/** The commits that a reader wants. */
export interface CommitFilter {
  principal?: string | undefined
  /** Commits with an entry of these types. */
  types?: ReadonlySet<EventType> | undefined
}

/** The commits of all sessions in one order, which is the same for every server and never changes behind a reader. */
export interface CommitLog {
  /** Eight hexadecimal digits that another store does not share. */
  epoch(): Promise<string>
  /** A position behind every commit that a reader can see. */
  head(): Promise<string>
  isBeyondHead(position: string): Promise<boolean>
  /**
   * Commits with entries after a position, some at a time; none at the head. Those of deleted sessions are left out, and
   * commits that are not wanted may be, but never the last one.
   */
  after(position: string, wanted?: CommitFilter): Promise<readonly StoredCommit[]>
  /** Settles when there may be more commits; also when the signal fires. */
  changed(signal: AbortSignal): Promise<void>
}

/**
 * Coordinates several servers on one store: the live nodes, the owner of each session, and commands from one node to
 * another. All times are by the clock of the store. A store for a single process does not offer this.
 *
 * A wait may end early, so callers check the condition that they waited for; a lost wake-up costs a
 * delay of at most two seconds.
 */
export interface NodeStore {
  readonly commits: CommitLog
  /** The clock of the store, in milliseconds since 1970. Absent if it has no other clock than its servers. */
  time?(): Promise<number>
  /**
   * Registers a process under the name of a node, or extends its registration. Refused with `conflict` while another
   * process is registered under that name and live.
   */
  register(name: string, process: string, info: NodeInfo, ttlMs: number): Promise<void>
  /** Ends the registration of this process; nothing where another process has the name. */
  leave(name: string, process: string): Promise<void>
  /** By name; nodes that went away without leaving are listed as not live for a day. */
  list(): Promise<readonly RegisteredNode[]>
  /** The owner of the lease of a session, unless it has expired. */
  ownerOf(session: string): Promise<string | undefined>
  /**
   * Sessions without a valid lease that an owner left open, in whose queue prompts wait, or whose single task is over;
   * the oldest first.
   */
  orphans(limit: number): Promise<readonly string[]>
  /**
   * Commits a command before it answers. It is pending until it is settled or `ttlMs` have passed. The same id again
   * sends it to another node, and removes its outcome.
   */
  send(command: NodeCommand, ttlMs: number): Promise<void>
  /** The pending commands of a node but for these ids: urgent ones first, then in the order they were sent. */
  pending(node: string, except: readonly string[]): Promise<readonly NodeCommand[]>
  /** Settles when commands may have arrived for a node; also when the signal fires. */
  arrived(node: string, signal: AbortSignal): Promise<void>
  /** Stores the outcome of a command. Ignored for a command that is not pending, or was sent to another node. */
  settle(id: string, node: string, outcome: string): Promise<void>
  /** The outcome of a command, as soon as there is one; undefined when the signal fires first. */
  outcome(id: string, signal: AbortSignal): Promise<string | undefined>
}
