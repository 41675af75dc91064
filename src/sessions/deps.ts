import type { Agent } from '../agents/agent.ts'
import type { Driver, Timers } from '../drivers/driver.ts'
import type { MainstemError, Policy, SessionOptions } from '../model/index.ts'
import type { HandOverCommand } from '../model/request/command.ts'
import type { Hash } from '../model/text/large-value.ts'
import type { AuditTrail } from '../reading/audit-trail.ts'
import type { Batch, LeaseTerms, SessionState, Store } from '../stores/store.ts'
import type { AgentLimits } from './process/agent-limits.ts'
import type { WarmPool } from './process/warm-pool.ts'

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

/** The facts that decide where a session can run. */
export interface Runnable {
  cwd: string
  labels?: readonly string[] | undefined
}

/** The dependencies of sessions. */
export interface SessionDeps {
  agents: ReadonlyMap<string, Agent>
  store: Store
  driver: Driver
  clock: Clock
  timers: Timers
  /** Sleeps that do not keep the program running; `timers` by default. */
  background?: Timers
  /** The lease terms of this server. Servers that share a store need different owners. */
  terms?: LeaseTerms
  /** The name of this node, if several servers share the store. */
  node?: string
  /** Whether the agents of a session can run on this node; true by default. */
  mayRun?(session: Runnable): boolean
  /** Called with the time left until the agents must end, each time that the leases were extended. */
  extended?(leftMs: number): void
  newId(): string
  digest(text: string): string
  /** Starts a digest of bytes that arrive in pieces. */
  newHash(): Hash
  /** Ends the processes that an earlier owner of the store left behind, except those of these runs. */
  sweep(except: readonly string[]): Promise<void>
  /** Whether the path is below the folder, with every link resolved. Relative paths start at the folder. */
  isInside(path: string, folder: string): boolean
  agentSettings?(id: string): AgentSettings
  /** The version of the agent's installed program; undefined where it cannot be determined. */
  versionOf?(agent: Agent): Promise<string | undefined>
  /** Reduces the policy of a restored session to what the configuration allows now. */
  limit?(policy: Policy): Policy
  /** Reduces the options of a restored session to what the configuration allows now. */
  limitOptions?(options: SessionOptions): SessionOptions
  /** Whether a process may use this directory (a real path). Called at every spawn, because links can be replaced. */
  mayWorkIn?(directory: string): boolean
  /** Called after each commit. */
  committed?: (state: SessionState, batch: Batch) => void
  /** Called when an agent process has answered, with the time since its start. */
  agentStarted?(ms: number): void
  /** Has another agent continue a session. */
  continueWith?: (id: string, command: HandOverCommand) => Promise<void>
  /** Called when a session fails. `stopped` settles when its process has stopped. */
  failed?: (id: string, error: MainstemError, stopped: Promise<void>) => void
  /** Values to mask in sessions of the server's owner, besides the keys that a session passes to its agent. */
  secrets?: readonly string[]
  /** Limits the number of agent processes. */
  pool: WarmPool
  /** The memory limit for log pages of all readers together. */
  readBytes?: number
  /** The limit of queued prompts per session; unlimited by default. */
  maxQueue?: number
  /** Overrides of the default time limits. */
  agentLimits?: Partial<AgentLimits>
  /** How long an idle process is kept. */
  idleProcessMs: number
  /** Keep raw frames beside the log. */
  journal: boolean
  /** Keep who sent each command; true by default. */
  audit?: boolean
  /** Where the sessions of this server take the rows of their commands from. */
  trail?: AuditTrail
}
