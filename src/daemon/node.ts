import { createHash, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { backgroundTimers, systemClock } from '../compose/clock.ts'
import type { Wired, WiredNode } from '../compose/wire.ts'
import { bootId } from '../drivers/tree/boot-id.ts'
import { directoryBelow, isStillBelow } from '../gateway/access/roots.ts'
import type { BackgroundWork } from '../gateway/http/background-work.ts'
import { Cluster } from '../nodes/cluster.ts'
import type { NodeStore } from '../stores/nodes.ts'
import type { Store } from '../stores/store.ts'
import type { Config } from './config.ts'

export type NodePlan = WiredNode

/** The lease terms and the abilities of this server as one of several; undefined if it has the store to itself. */
export function nodePlan(config: Config, store: Store, roots: readonly string[]): NodePlan | undefined {
  if (!store.nodes) return undefined
  const { name = hostname(), labels, leaseMs } = config.node
  return {
    terms: { owner: name, ttlMs: leaseMs },
    mayRun: ({ cwd, labels: needed = [] }) =>
      isStillBelow(roots, cwd) && needed.every((label) => labels.includes(label)),
  }
}

interface ClusterParts {
  config: Config
  plan: NodePlan | undefined
  store: Store
  /** The owner of the data directory. */
  owner: string | undefined
  wired: Wired
  roots: readonly string[]
  version: string
  isDraining(): boolean
  runs: BackgroundWork
  report(thrown: unknown): void
}

/** Connects the sessions of this server with those of the other servers on its store. */
export function clusterOf(parts: ClusterParts): Cluster {
  const { config, plan, store, owner, wired, roots, version, isDraining, runs, report } = parts
  const { sessions, processes } = wired
  const track = (work: Promise<unknown>) => runs.track(work)
  if (!plan || !hasNodes(store)) return new Cluster(sessions, store, track)
  const { url, labels } = config.node
  return new Cluster(sessions, store, track, {
    ...plan,
    store,
    clock: systemClock,
    background: backgroundTimers,
    processId: processIdOf(owner),
    newId: randomUUID,
    info: () => ({
      ...(url !== undefined && { url }),
      version,
      labels,
      roots,
      processes: processes(),
      maxProcesses: config.limits.processes,
      draining: isDraining(),
    }),
    directory: (path, field) => directoryBelow(roots, path, field),
    track,
    report,
  })
}

function hasNodes(store: Store): store is Store & { readonly nodes: NodeStore } {
  return store.nodes !== undefined
}

/**
 * Names a process among those that register under the name of a node. It is the same for all servers on one data
 * directory since the system was started: only one of them runs at a time, because it holds the lock of the directory.
 * So a server that was killed is followed by the next one at once, without waiting for its registration to expire.
 */
function processIdOf(owner: string | undefined): string {
  const boot = bootId()
  // Without a name of the start, a process on another machine that shares the directory could not be told from an
  // earlier one here.
  if (boot === undefined || owner === undefined) return randomUUID()
  return createHash('sha256').update(`${boot} ${owner}`).digest('hex').slice(0, 32)
}
