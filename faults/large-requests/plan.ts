import type { FencedPlan } from '../fenced.ts'

/** The command of the isolated process. */
export interface Plan extends FencedPlan {
  readonly megabytes: number
  readonly programs: readonly string[]
}

/** One request, and what was wrong with it. */
export interface Report {
  readonly program: string
  readonly decision: 'allow' | 'deny'
  readonly problems: readonly string[]
}
