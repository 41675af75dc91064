import { acpAgents } from '../agents/acp/agent.ts'
import type { Agent } from '../agents/agent.ts'
import { claude } from '../agents/claude/agent.ts'
import { codex as codexAgent } from '../agents/codex/agent.ts'
import { echo as echoAgent } from '../agents/echo/agent.ts'
import { gemini as geminiAgent } from '../agents/gemini/agent.ts'
import { opencode as opencodeAgent } from '../agents/opencode/agent.ts'
import { readiness } from '../compose/readiness.ts'
import { agentIdOf } from '../dialects/ues/ues-run.ts'
import { MainstemError } from '../model/index.ts'
import type { AgentSettings } from '../sessions/deps.ts'
import type { AgentAdapter } from './adapter.ts'
import { runAgent } from './run-agent.ts'

type MakeAdapter = (settings?: AgentSettings) => AgentAdapter

/** Claude Code, run by the installed `claude` program. */
export const claudeCode: MakeAdapter = (settings) => adapterOf(claude, settings)
/** Codex, run by the installed `codex` program. */
export const codex: MakeAdapter = (settings) => adapterOf(codexAgent, settings)
/** Gemini CLI, run by the installed `gemini` program. */
export const gemini: MakeAdapter = (settings) => adapterOf(geminiAgent, settings)
/** OpenCode, run by the installed `opencode` program. */
export const opencode: MakeAdapter = (settings) => adapterOf(opencodeAgent, settings)

/** A built-in agent that answers with the prompt. Use it to test a setup without an API key. */
export const echo = (): AgentAdapter => adapterOf(echoAgent)

/** Any agent that supports the Agent Client Protocol, by its name in the registry or by the command that starts it. */
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
  throw new MainstemError(
    'agent_not_found',
    `unknown ACP agent "${name}". Use one of ${names}, or pass the command that starts it.`,
  )
}

/** Creates the adapter of an agent. */
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
