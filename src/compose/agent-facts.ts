import type { Agent, Launch, LaunchRecipe } from '../agents/agent.ts'
import { agents as allAgents } from '../agents/index.ts'
import { namedVariables } from '../drivers/process/named-variables.ts'
import { type LaunchKind, MainstemError, type Policy } from '../model/index.ts'
import type { Environment } from './paths.ts'
import { type ReadinessQuestion, readiness } from './readiness.ts'

/** One of them is accepted by every launch. */
const POLICIES: readonly Policy[] = [
  { approval: 'ask', sandbox: 'none' },
  { approval: 'auto-all', sandbox: 'full-access' },
]

/** What a server says about its agents. */
export function agentFacts(
  question: Omit<ReadinessQuestion, 'agents'>,
  agents: readonly Agent[] = allAgents,
) {
  return {
    agents: () => readiness({ ...question, agents }),
    variables: () => passedVariables(agents),
  }
}

/** The variables that each agent gets from the environment: names, and prefixes that end in `*`. */
function passedVariables(
  agents: readonly Agent[],
  environment: Environment = process.env,
): Record<string, string[]> {
  return Object.fromEntries(agents.map((agent) => [agent.id, variablesOf(agent, environment)]))
}

function variablesOf(agent: Agent, environment: Environment): string[] {
  const kinds: readonly LaunchKind[] = ['live', 'oneshot']
  const names = kinds.flatMap((kind) => {
    const recipe = agent.launches[kind]
    const launch = recipe && launchOf(recipe, kind)
    if (!launch || !('passEnv' in launch)) return []
    return [...launch.passEnv, ...(launch.passNamedIn ? namedVariables(launch.passNamedIn, environment) : [])]
  })
  return [...new Set(names)]
}

function launchOf(recipe: LaunchRecipe, launch: LaunchKind): Launch | undefined {
  for (const policy of POLICIES) {
    try {
      return recipe.launch({ launch, cwd: '/', policy, options: {}, epoch: 1 })
    } catch (thrown) {
      if (!(thrown instanceof MainstemError)) throw thrown
    }
  }
  return undefined
}
