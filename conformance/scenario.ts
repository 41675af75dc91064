import type { Capabilities } from '../src/model/index.ts'
import type { Stage } from './stage.ts'

/** Something an agent can do, and how it shows. */
export interface Scenario {
  readonly id: string
  /** The row in the table. */
  readonly title: string
  /** What the cell checks besides the reports of the program, as a phrase. */
  readonly effect: string
  /** The row in the short table, if it is one of what a reader asks first. */
  readonly inShort?: string
  /** The capability that the agent declares for it. */
  readonly capability?: keyof Capabilities
  /** Part of every check, not only of the full run. */
  readonly inCi?: boolean
  /** Ends when it was shown; throws `Missing` when it was not. */
  play(stage: Stage): Promise<void>
}
