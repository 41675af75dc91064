import type { LaunchRecipe, Start } from '../../agents/agent.ts'
import type { SessionStarted } from '../../model/events/session.ts'

/** The facts in `session.started`. */
export interface StartedFacts {
  agent: string
  recipe: LaunchRecipe
  start: Omit<Start, 'epoch'>
  /** The project that the client named. */
  project?: string | undefined
  /** The name that the client gave the session. */
  name?: string | undefined
}

/** The first event of every log. */
export function sessionStarted({ agent, recipe, start, project, name }: StartedFacts): SessionStarted {
  return {
    type: 'session.started',
    agent,
    launch: start.launch,
    cwd: start.cwd,
    ...(project !== undefined && { project }),
    ...(name !== undefined && { name }),
    policy: start.policy,
    capabilities: recipe.capabilities,
    ...(start.options.model !== undefined && { model: start.options.model }),
    ...(start.resume !== undefined && { resumedFrom: start.resume }),
  }
}
