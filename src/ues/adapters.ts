import { acpAgents } from '../agents/acp/agent.ts'
import type { Agent } from '../agents/agent.ts'
import { claude } from '../agents/claude/agent.ts'
import { codex as codexAgent } from '../agents/codex/agent.ts'
import { echo as echoAgent } from '../agents/echo/agent.ts'
import { gemini as geminiAgent } from '../agents/gemini/agent.ts'
import { opencode as opencodeAgent } from '../agents/opencode/agent.ts'
import { readiness } from '../compose/readiness.ts'
import { agentIdOf } from '../dialects/ues-run.ts'
import { MainstemError } from '../model/index.ts'
import type { AgentSettings } from '../sessions/deps.ts'
import type { AgentAdapter } from './adapter.ts'
import { runAgent } from './run-agent.ts'

type MakeAdapter = (settings?: AgentSettings) => AgentAdapter

export const claudeCode: MakeAdapter = (settings) => adapterOf(claude, settings)
export const codex: MakeAdapter = (settings) => adapterOf(codexAgent, settings)
export const gemini: MakeAdapter = (settings) => adapterOf(geminiAgent, settings)
export const opencode: MakeAdapter = (settings) => adapterOf(opencodeAgent, settings)

/** Says the prompt back: for trying a set-up without a key. */
export const echo = (): AgentAdapter => adapterOf(echoAgent)

/** Any agent that speaks the Agent Client Protocol: by its name in the registry, or by the command that starts it. */
export function acp(
  agent: string | readonly [string, ...string[]],
  settings: AgentSettings = {},
): AgentAdapter {
  if (typeof agent === 'string') return adapterOf(acpAgent(agent), settings)
  return adapterOf(acpAgent('acp'), { ...settings, command: agent })
}

function acpAgent(name: string): Agent {
  const found = acpAgents.find(({ id }) => id === name)
  if (found) return found
  const names = acpAgents.map(({ id }) => id).join(', ')
  throw new MainstemError('agent_not_found', `there is no ACP agent "${name}"; known ones: ${names}`)
}

/** An agent with the interface of this face. */
export function adapterOf(agent: Agent, settings: AgentSettings = {}): AgentAdapter {
  const id = agentIdOf(agent.id)
  return {
    id,
    name: agent.name,
    run: (prompt, options = {}) => runAgent({ id, agent, settings, prompt, options }),
    async isAvailable() {
      const [found] = await readiness({ agents: [agent], settings: { [agent.id]: settings } })
      return found !== undefined && found.state !== 'missing' && found.state !== 'broken'
    },
  }
}
