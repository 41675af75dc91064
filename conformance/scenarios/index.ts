import type { Scenario } from '../scenario.ts'
import { APPROVALS } from './approvals.ts'
import { BUDGET } from './budget.ts'
import { CONTROL } from './control.ts'
import { FAULTS } from './faults.ts'
import { INTERRUPTS } from './interrupts.ts'
import { PEOPLE } from './people.ts'
import { SUBAGENTS } from './subagents.ts'
import { TEXT } from './text.ts'
import { TOOLS } from './tools.ts'
import { USAGE } from './usage.ts'
import { VERBS } from './verbs.ts'

/** Every scenario, in the order of the table. */
export const SCENARIOS: readonly Scenario[] = [
  ...TEXT,
  ...TOOLS,
  ...SUBAGENTS,
  ...USAGE,
  ...PEOPLE,
  ...APPROVALS,
  ...INTERRUPTS,
  ...CONTROL,
  ...VERBS,
  ...BUDGET,
  ...FAULTS,
]
