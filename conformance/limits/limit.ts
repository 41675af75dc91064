import type { Launch } from '../stage.ts'

/** A scenario that a program cannot pass. It is played anyway, and must fail in exactly this way. */
export interface Limit {
  readonly scenarios: readonly string[]
  readonly programs?: readonly string[]
  readonly launch?: Launch
  readonly reason: string
  /** How the scenario must fail. Another failure is red, and so is a success. */
  readonly seen: RegExp
  /** A recording of it; absent where we refuse before the program starts. */
  readonly evidence?: string
  /** The program has the feature, and Mainstem does not use it. */
  readonly ours?: true
}

/** Our refusal of this option. */
export const refused = (option: string) => new RegExp(`^unsupported_option: ${option} is not supported by `)

/** The program reports no usage of its sub-agents, and the usage of the turn is marked as incomplete. */
export const PARTIAL_USAGE = {
  scenarios: ['subagent-usage'],
  reason: 'It does not report the usage of sub-agents; the usage of the turn is marked as partial.',
  seen: /^usage is \{.*"partial":true\} and the model reported /,
}
