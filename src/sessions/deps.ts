import type { Agent } from '../agents/agent.ts'
import type { Driver, Timers } from '../drivers/driver.ts'
import type { LaunchKind, MainstemError, Policy, SessionOptions } from '../model/index.ts'
import type { Batch, LeaseTerms, SessionState, Store } from '../stores/store.ts'
import type { AgentLimits } from './deadlines.ts'
import type { WarmPool } from './warm-pool.ts'

export interface Clock {
  /** Wall time in milliseconds, for people. */
  now(): number
  /** Never goes backwards; for durations and timeouts. */
  monotonic(): number
}

/** How to run an agent, if not by its default command. */
export interface AgentSettings {
  /** The program and its first arguments. */
  command?: readonly string[] | undefined
  /** Environment variables for the program. */
  env?: Readonly<Record<string, string>> | undefined
}

/** Everything that sessions need from outside. */
export interface SessionDeps {
  agents: ReadonlyMap<string, Agent>
  store: Store
  driver: Driver
  clock: Clock
  timers: Timers
  /** Sleeps that do not keep the program running; `timers` by default. */
  background?: Timers
  /** The lease that this server takes on its sessions. Servers that share a store need different owners. */
  terms?: LeaseTerms
  newId(): string
  digest(text: string): string
  /** Ends the processes that an earlier owner of the store left behind. */
  sweep(): Promise<void>
  /** Is the path below the folder, with every link followed? A relative one starts at the folder. */
  isInside(path: string, folder: string): boolean
  agentSettings?(id: string): AgentSettings
  /** The version of the agent's installed program; undefined where it cannot be determined. */
  versionOf?(agent: Agent): Promise<string | undefined>
  /** The policy without what is not allowed any more, for a session that goes on. */
  limit?(policy: Policy): Policy
  /** The options without those that are no longer allowed, for a session of an earlier process. */
  limitOptions?(options: SessionOptions): SessionOptions
  /** Whether a process may start in this directory, a real path, or be given it. Asked at every spawn: links can be replaced. */
  mayWorkIn?(directory: string): boolean
  /** Told of each batch when it is committed. */
  committed?: (state: SessionState, batch: Batch) => void
  /** Told of a session that cannot go on; `stopped` settles when nothing of it runs any more. */
  failed?: (id: string, error: MainstemError, stopped: Promise<void>) => void
  /** Values that are masked in the sessions of the server's owner, as are the keys that a session hands to its agent. */
  secrets?: readonly string[]
  /** How many agent processes there may be. */
  pool: WarmPool
  /** How many bytes of logs may be in memory for readers at the same time. */
  readBytes?: number
  /** How many prompts may wait in one session; without it, as many as come. */
  maxQueue?: number
  /** How long an agent may take; the defaults where nothing else is given. */
  agentLimits?: Partial<AgentLimits>
  /** How long a process without work is kept. */
  restAfterMs: number
  /** Keep raw frames beside the log. */
  journal: boolean
}

export interface NewSession {
  agent: string
  launch?: LaunchKind
  /** The launch to take where none is asked for and the agent has both; live unless it says otherwise. */
  prefers?: LaunchKind
  /** Who it belongs to. */
  principal?: string
  cwd: string
  /** The project that the client named; kept and reported, and nothing follows from it. */
  project?: string
  /** A name for people, by which they find the session again. */
  name?: string
  policy?: Policy
  options?: SessionOptions
  /** The agent's own session to go on with. */
  resume?: string
  /** False when nobody can answer: an open request is then denied, never approved. */
  attended?: boolean
}
