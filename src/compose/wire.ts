/// <reference lib="esnext.disposable" preserve="true" />
import { createHash, randomUUID } from 'node:crypto'
import type { Agent } from '../agents/agent.ts'
import { agents as allAgents } from '../agents/index.ts'
import type { Driver, Timers } from '../drivers/driver.ts'
import { driver } from '../drivers/index.ts'
import { ownedRun } from '../drivers/process/environment.ts'
import { paced } from '../drivers/process/paced.ts'
import { abandonedFolders } from '../drivers/process/run-folders.ts'
import { OrphanGuard } from '../drivers/tree/orphan-guard.ts'
import { processTable } from '../drivers/tree/process-table.ts'
import { sweep } from '../drivers/tree/sweep.ts'
import { SessionImports } from '../imports/imports.ts'
import { secretsIn } from '../mask/secrets.ts'
import { MainstemError, type Policy, type SessionOptions } from '../model/index.ts'
import type { AgentSettings, SessionDeps } from '../sessions/deps.ts'
import type { AgentLimits } from '../sessions/process/agent-limits.ts'
import { WarmPool } from '../sessions/process/warm-pool.ts'
import { Sessions } from '../sessions/sessions.ts'
import { memoryStore } from '../stores/memory.ts'
import type { LeaseTerms, Store } from '../stores/store.ts'
import { backgroundTimers, systemClock, systemTimers } from './clock.ts'
import { installedVersions } from './installed-version.ts'
import { isInside } from './is-inside.ts'

export interface Wiring {
  /** Programs and variables from the configuration, by agent id. */
  settings?: Readonly<Record<string, AgentSettings>>
  /** The agents to offer; default all. */
  agents?: readonly Agent[]
  /** The timers; a demonstration may run them faster. */
  timers?: Timers
  /** The store of the logs; default in memory. It is closed with everything else. */
  store?: Store
  /** The owner of the store, one at a time; marks the agents' processes. */
  owner?: string
  /** Agents outlive this process: the directory of their output, and how long they may work without a server. */
  lasting?: { spool: string; graceMs: number } | undefined
  /** This server as one of several on the store. */
  node?: WiredNode | undefined
  /** Store raw frames next to the log. */
  journal?: boolean
  /** Keep who sent each command; false where nobody could read it. */
  audit?: boolean
  /** The maximum number of agent processes, and how long an idle one is kept. */
  maxProcesses?: number
  idleProcessMs?: number
  /** Settles when the store can accept more; until then no agent output is read. */
  room?: () => Promise<void>
  /** The maximum number of log bytes in memory for all subscribers. */
  readBytes?: number
  /** The maximum number of queued prompts per session. */
  maxQueue?: number
  /** How long an agent may take to start and to exit, and how long it may be silent before a notice. */
  agentLimits?: Partial<AgentLimits>
  /** Restricts the policy of a continued session to what is still allowed. */
  limit?: (policy: Policy) => Policy
  /** Removes options of an earlier process's session that are no longer allowed. */
  limitOptions?: (options: SessionOptions) => SessionOptions
  /** Whether a process may start in this directory, a real path; default any. */
  mayWorkIn?: (directory: string) => boolean
  /**
   * Values to mask in the logs of the server's owner, besides the agents' keys; default the keys in the environment.
   */
  secrets?: readonly string[]
  /** Wraps the driver of the sessions. */
  between?: (driver: Driver) => Driver
}

/** The lease terms of a node, whose owner is its name, and the sessions that it can run. */
export interface WiredNode {
  terms: LeaseTerms
  mayRun: NonNullable<SessionDeps['mayRun']>
}

const SYSTEM = {
  clock: systemClock,
  background: backgroundTimers,
  newHash: () => createHash('sha256'),
  digest: (text: string) => createHash('sha256').update(text).digest('hex'),
  newId: randomUUID,
  isInside,
}

/** Sessions with all their dependencies; disposing it ends all runs and closes the store. */
export interface Wired extends AsyncDisposable {
  sessions: Sessions
  imports: SessionImports
  /** The number of agent processes. */
  processes(): number
}

/** Composes sessions, driver, agents and store. */
export function wire({
  settings = {},
  agents = allAgents,
  timers = systemTimers,
  store = memoryStore(),
  owner,
  lasting,
  node,
  journal = true,
  audit = true,
  maxProcesses = 64,
  idleProcessMs = 600_000,
  room,
  between = (driver) => driver,
  secrets = secretsIn(process.env),
  maxQueue = 100,
  readBytes,
  limit = (policy) => policy,
  limitOptions = (options) => options,
  mayWorkIn,
  agentLimits = {},
}: Wiring = {}): Wired {
  const known = new Map(agents.map((agent) => [agent.id, agent]))
  const agentSettings = settingsOf(settings, known)
  const closed = new AbortController()
  const context = { environment: process.env, platform: process.platform, timers, signal: closed.signal }
  const [guard, pool] = [guardOf(node, lasting), new WarmPool(maxProcesses)]
  const sessions = new Sessions({
    agents: known,
    store,
    driver: between(driverWith({ timers, owner, ...(guard && { guard }), ...lasting }, room)),
    timers,
    ...SYSTEM,
    ...(node && guard && nodeDeps(node, guard)),
    ...{ journal, audit },
    secrets,
    maxQueue,
    ...(readBytes !== undefined && { readBytes }),
    limit,
    limitOptions,
    ...(mayWorkIn && { mayWorkIn }),
    agentLimits,
    pool,
    idleProcessMs,
    sweep: (except) => sweepRuns(owner, timers, except),
    agentSettings,
    versionOf: installedVersions(agentSettings, context),
  })
  return {
    sessions,
    imports: new SessionImports({ store, newHash: SYSTEM.newHash }, sessions),
    processes: () => pool.size,
    async [Symbol.asyncDispose]() {
      closed.abort()
      await sessions.drain()
      guard?.close()
      await store[Symbol.asyncDispose]()
    },
  }
}

/** Looks up the settings of an agent. Refuses settings of an agent that does not exist. */
function settingsOf(
  settings: NonNullable<Wiring['settings']>,
  known: ReadonlyMap<string, Agent>,
): (id: string) => AgentSettings {
  const unknown = Object.keys(settings).find((id) => !known.has(id))
  if (unknown !== undefined) {
    throw new MainstemError('agent_not_found', `configuration: agents.${unknown}: unknown agent`)
  }
  return (id) => (Object.hasOwn(settings, id) ? (settings[id] ?? {}) : {})
}

/** Each node gets its own guard, because the deadline of a guard ends every agent that the guard watches. */
function guardOf(node: Wiring['node'], lasting: Wiring['lasting']): OrphanGuard | undefined {
  return (node || lasting) && new OrphanGuard(lasting?.graceMs)
}

function driverWith(options: NonNullable<Parameters<typeof driver>[0]>, room: Wiring['room']): Driver {
  const started = driver(options)
  return room ? paced(started, room) : started
}

/** A suspended node cannot end its agents, so the guard does it in time. */
function nodeDeps({ terms, mayRun }: WiredNode, guard: OrphanGuard): Partial<SessionDeps> {
  return { terms, mayRun, node: terms.owner, extended: (leftMs) => guard.deadline(leftMs) }
}

async function sweepRuns(
  owner: string | undefined,
  timers: Timers,
  spared: readonly string[],
): Promise<void> {
  const folders = abandonedFolders(processTable(process.platform))
  const except = owner === undefined ? spared : spared.map((runId) => ownedRun(owner, runId))
  await sweep([], { timers, owner, except, folders })
}
