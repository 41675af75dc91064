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

/** The program runs a call with its own input or not at all. */
export const CHANGED_INPUT = {
  scenarios: ['changed-input'],
  reason: 'Its protocol cannot change the input of a call; the answer is refused and the call denied.',
  seen: /^it was denied: .*input: this agent cannot run a call with changed input/,
}

/** The protocol answers a request by the name of an option, and by nothing else. */
export const OPTIONS_ONLY: readonly Limit[] = [
  CHANGED_INPUT,
  {
    scenarios: ['deny-reason'],
    reason: 'Its protocol has no field for the reason of a denial.',
    seen: /^the model did not receive the reason; the outcome is (?:completed|interrupted)$/,
  },
]

/** The program reports no usage of its sub-agents, and the usage of the turn is marked as incomplete. */
export const PARTIAL_USAGE = {
  scenarios: ['subagent-usage'],
  reason: 'It does not report the usage of sub-agents; the usage of the turn is marked as partial.',
  seen: /^usage is \{.*"partial":true\} and the model reported /,
}
