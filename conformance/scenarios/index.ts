import type { Scenario } from '../scenario.ts'
import { CONTROL } from './control.ts'
import { FAULTS } from './faults.ts'
import { PEOPLE } from './people.ts'
import { TEXT } from './text.ts'
import { TOOLS } from './tools.ts'

/** Every scenario, in the order of the table. */
export const SCENARIOS: readonly Scenario[] = [...TEXT, ...TOOLS, ...PEOPLE, ...CONTROL, ...FAULTS]
