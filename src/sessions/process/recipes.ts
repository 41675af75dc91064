import type { Agent, LaunchRecipe } from '../../agents/agent.ts'
import { type LaunchKind, MainstemError } from '../../model/index.ts'
import type { NewSession } from '../../model/session/new-session.ts'
import { nearest } from '../../model/text/nearest.ts'
import type { SessionSetup } from './setup.ts'

/** An agent with the launch of a session. */
export type Chosen = Pick<SessionSetup, 'agent' | 'launch' | 'recipe' | 'version'>

/** The agent as its installed version behaves. */
export function agentAt(agent: Agent, version: string | undefined): Agent {
  const variant = version === undefined ? undefined : agent.atVersion?.(version)
  if (!variant) return agent
  // The other generation was tested with other versions.
  const { testedVersion: _, oldestVersion: __, ...common } = agent
  return { ...common, ...variant }
}

export function agentOf(agents: ReadonlyMap<string, Agent>, id: string): Agent {
  const agent = agents.get(id)
  if (agent) return agent
  const known = [...agents.keys()]
  const near = nearest(id, known)
  const others = 'Use one of the known agents, or `acp` with the command of another.'
  throw new MainstemError('agent_not_found', `there is no agent "${id}"; known agents: ${known.join(', ')}`, {
    advice: near === undefined ? others : `Did you mean "${near}"?`,
  })
}

/** Chooses the launch of a new session. */
export function chooseRecipe(
  known: Agent,
  request: Pick<NewSession, 'launch' | 'prefers'>,
  version: string | undefined,
): Chosen {
  const agent = agentAt(known, version)
  const { prefers = 'live' } = request
  const only = agent.launches.live ? 'live' : 'oneshot'
  const launch = request.launch ?? (agent.launches[prefers] ? prefers : only)
  const recipe = agent.launches[launch]
  if (!recipe) throw noLaunch(agent, launch)
  return { agent, launch, recipe, version }
}

/** A session whose launch the installed version no longer has can be read, ended and deleted; its prompts are refused. */
export function restoreRecipe(known: Agent, launch: LaunchKind, version: string | undefined): Chosen {
  const agent = agentAt(known, version)
  const recipe = agent.launches[launch]
  if (recipe) return { agent, launch, recipe, version }
  const earlier = known.launches[launch]
  if (!earlier) throw noLaunch(agent, launch)
  return { agent, launch, recipe: refusing(earlier, noLaunch(agent, launch)), version }
}

function noLaunch({ id }: Agent, launch: LaunchKind): MainstemError {
  return new MainstemError('unsupported_option', `${id} has no ${launch} launch`)
}

/** A recipe that refuses to start. */
function refusing(recipe: LaunchRecipe, error: MainstemError): LaunchRecipe {
  return {
    ...recipe,
    launch: () => {
      throw error
    },
  }
}
