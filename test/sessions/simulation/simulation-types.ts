import type { Store } from '../../../src/stores/store.ts'
import type { Plant } from './simulation-store.ts'

/** What a life came to: the states it passed through, what happened in it, and what went wrong. */
export interface Simulated {
  states: Set<string>
  transitions: Set<string>
  trace: string[]
  problems: string[]
}

export interface Simulation {
  open?: (monotonic: () => number) => Store
  steps?: number
  plant?: Plant | undefined
  /** Steps that are left out. */
  without?: ReadonlySet<number>
}
