import type { Agent } from './agent.ts'
import { claude } from './claude/agent.ts'
import { demo } from './demo/agent.ts'
import { echo } from './echo/agent.ts'

/** Every agent there is: adding one is adding its folder and its line here. */
export const agents: readonly Agent[] = [claude, demo, echo]
