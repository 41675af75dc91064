import type { Agent } from '../../src/agents/agent.ts'
import type { NewSession } from '../../src/model/session/new-session.ts'
import { fittingLaunch } from '../../src/sessions/process/fitting-launch.ts'
import type { Chosen } from '../../src/sessions/process/recipes.ts'
import type { AgentOptions } from '../../src/ues/index.ts'
import { sessionRequest } from '../../src/ues/session-request.ts'

/** The request of a run, and the launch that the session chooses for it. Throws if no launch supports the options. */
export function launched(agent: Agent, asked: AgentOptions): Chosen & { request: NewSession } {
  const request = sessionRequest(agent, asked)
  const { cwd, policy, options = {} } = request
  if (!policy) throw new TypeError('a run has a policy')
  const chosen = fittingLaunch(agent, request, undefined, ({ recipe, launch }) => {
    recipe.launch({ launch, cwd, policy, options, epoch: 1 })
  })
  return { ...chosen, request }
}
