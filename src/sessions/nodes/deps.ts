import type { Timers } from '../../drivers/driver.ts'
import type { NodeInfo, NodeStore } from '../../stores/nodes.ts'
import type { LeaseTerms, Store } from '../../stores/store.ts'
import type { Clock, Runnable } from '../deps.ts'

/** What a server needs to be one node of several. */
export interface NodeDeps {
  store: Store & { readonly nodes: NodeStore }
  clock: Clock
  /** Sleeps that do not keep the program running. */
  background: Timers
  /** The owner is the name of the node. */
  terms: LeaseTerms
  /** Names this process among all that ever had the name of the node. */
  processId: string
  newId(): string
  /** What the other nodes are told of this one. */
  info(): NodeInfo
  /** Whether the agents of a session can run here. */
  mayRun(session: Runnable): boolean
  /** The real path of a directory below the roots of this node; refused with `forbidden` where there is none. */
  directory(path: string): Promise<string>
  /** Work that a server waits for when it stops. */
  track(work: Promise<unknown>): void
  /** Told of errors that no client waits for. */
  report(thrown: unknown): void
}
