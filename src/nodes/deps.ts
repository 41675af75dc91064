import type { Timers } from '../drivers/driver.ts'
import type { Clock, Runnable } from '../sessions/deps.ts'
import type { NodeInfo, NodeStore } from '../stores/nodes.ts'
import type { LeaseTerms, Store } from '../stores/store.ts'

/** The dependencies of a server that is one of several nodes. */
export interface NodeDeps {
  store: Store & { readonly nodes: NodeStore }
  clock: Clock
  /** Sleeps that do not keep the program running. */
  background: Timers
  /** The owner is the name of the node. */
  terms: LeaseTerms
  /** Identifies this process among those that use the name of the node. Two that run at a time must not share it. */
  processId: string
  newId(): string
  /** The description of this node for the others. */
  info(): NodeInfo
  /** Whether the agents of a session can run here. */
  mayRun(session: Runnable): boolean
  /** Returns the real path of a directory below the roots of this node; otherwise refuses with `forbidden`. */
  directory(path: string, field?: string): Promise<string>
  /** Work that a server waits for when it stops. */
  track(work: Promise<unknown>): void
  /** Receives errors that no client waits for. */
  report(thrown: unknown): void
}
