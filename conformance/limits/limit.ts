import type { Launch } from '../stage.ts'

/** What a program cannot do. Each is tried all the same: what is seen must be this, and nothing else. */
export interface Limit {
  readonly scenarios: readonly string[]
  readonly programs?: readonly string[]
  readonly launch?: Launch
  readonly reason: string
  /** What has to be seen when it is tried. Anything else is red, and so is a scenario that works after all. */
  readonly seen: RegExp
  /** A recording that shows it; absent where the refusal comes before anything starts. */
  readonly evidence?: string
  /** The program could do it; we do not ask it to. */
  readonly ours?: true
}

/** Our own refusal, which names the option. */
export const refused = (option: string) => new RegExp(`^unsupported_option: ${option} is not supported by `)
