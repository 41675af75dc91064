/// <reference lib="esnext.disposable" preserve="true" />
import { createHash, randomUUID } from 'node:crypto'
import type { Agent } from '../agents/agent.ts'
import { agents as allAgents } from '../agents/index.ts'
import type { Driver, Timers } from '../drivers/driver.ts'
import { driver } from '../drivers/index.ts'
import { paced } from '../drivers/paced.ts'
import { processTable } from '../drivers/process-table.ts'
import { abandonedFolders } from '../drivers/run-folders.ts'
import { sweep } from '../drivers/sweep.ts'
import { MainstemError, type Policy, type SessionOptions } from '../model/index.ts'
import type { AgentLimits } from '../sessions/deadlines.ts'
import type { AgentSettings } from '../sessions/deps.ts'
import { secretsIn } from '../sessions/secrets.ts'
import { Sessions } from '../sessions/sessions.ts'
import { WarmPool } from '../sessions/warm-pool.ts'
import { memoryStore } from '../stores/memory.ts'
import type { Store } from '../stores/store.ts'
import { systemClock, systemTimers } from './clock.ts'
import { installedVersions } from './installed-version.ts'
import { isInside } from './is-inside.ts'

export interface Wiring {
  /** Programs and variables set in the configuration, by agent id. */
  settings?: Readonly<Record<string, AgentSettings>>
  /** The agents to offer; all of them unless told otherwise. */
  agents?: readonly Agent[]
  /** How time passes; a demonstration may run it faster. */
  timers?: Timers
  /** Where the logs are kept; in memory unless told otherwise. It is closed with everything else. */
  store?: Store
  /** Names the owner of the store, of which there is one at a time; its agents are marked with it. */
  owner?: string
  /** Keep raw frames beside the log. */
  journal?: boolean
  /** How many agent processes there may be at once, and how long one without work is kept. */
  maxProcesses?: number
  restAfterMs?: number
  /** Settles when there is room for more; until then no agent is read. */
  room?: () => Promise<void>
  /** How many bytes of logs may be in memory for readers at the same time. */
  readBytes?: number
  /** How many prompts may wait in one session. */
  maxQueue?: number
  /** How long an agent may take to start and to exit, and be silent before a notice. */
  agentLimits?: Partial<AgentLimits>
  /** The policy without what is not allowed any more, for a session that goes on. */
  limit?: (policy: Policy) => Policy
  /** The options without those that are no longer allowed, for a session of an earlier process. */
  limitOptions?: (options: SessionOptions) => SessionOptions
  /** Whether a process may start in this directory, a real path; by default in any. */
  mayWorkIn?: (directory: string) => boolean
  /** Masked in the logs of the server's owner, besides the keys that agents are given; by default the keys in the environment. */
  secrets?: readonly string[]
  /** Comes between the sessions and the driver. */
  between?: (driver: Driver) => Driver
}

/** Sessions with everything they need; disposing of it ends what runs and closes the store. */
export interface Wired extends AsyncDisposable {
  sessions: Sessions
}

/** The one place where the parts meet. */
export function wire({
  settings = {},
  agents = allAgents,
  timers = systemTimers,
  store = memoryStore(),
  owner,
  journal = true,
  maxProcesses = 64,
  restAfterMs = 600_000,
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
  const stranger = Object.keys(settings).find((id) => !known.has(id))
  if (stranger !== undefined) {
    throw new MainstemError('agent_not_found', `configuration: agents.${stranger}: there is no such agent`)
  }
  const agentSettings = (id: string) => (Object.hasOwn(settings, id) ? (settings[id] ?? {}) : {})
  const closed = new AbortController()
  const around = { environment: process.env, platform: process.platform, timers, signal: closed.signal }
  const started = driver({ timers, owner })
  const sessions = new Sessions({
    agents: known,
    store,
    driver: between(room ? paced(started, room) : started),
    clock: systemClock,
    timers,
    journal,
    secrets,
    maxQueue,
    ...(readBytes !== undefined && { readBytes }),
    limit,
    limitOptions,
    ...(mayWorkIn && { mayWorkIn }),
    agentLimits,
    pool: new WarmPool(maxProcesses),
    restAfterMs,
    newId: randomUUID,
    digest: (text) => createHash('sha256').update(text).digest('hex'),
    isInside,
    sweep: () => sweepRuns(owner, timers),
    agentSettings,
    versionOf: installedVersions(agentSettings, around),
  })
  return {
    sessions,
    async [Symbol.asyncDispose]() {
      closed.abort()
      await sessions.drain()
      await store[Symbol.asyncDispose]()
    },
  }
}

async function sweepRuns(owner: string | undefined, timers: Timers): Promise<void> {
  const folders = abandonedFolders(processTable(process.platform))
  await sweep([], { timers, owner, folders })
}
