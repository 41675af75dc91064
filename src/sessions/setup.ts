import type { Agent, Launch, LaunchRecipe } from '../agents/agent.ts'
import type { LaunchKind, Policy, SessionOptions } from '../model/index.ts'
import type { AgentSettings } from './parts.ts'

/** What a session is made of, once it was found to be possible. */
export interface SessionSetup {
  id: string
  agent: Agent
  recipe: LaunchRecipe
  launch: LaunchKind
  cwd: string
  policy: Policy
  options: SessionOptions
  resume: string | undefined
  attended: boolean
}

/** The program that the configuration names instead of the agent's own. */
export function replaceProgram(launch: Launch, settings: AgentSettings): Launch {
  const [program, ...rest] = settings.command ?? []
  if (launch.kind !== 'process' || program === undefined) return launch
  return { ...launch, argv: [program, ...rest, ...launch.argv.slice(1)] }
}
