import { resolve } from 'node:path'
import type { Agent, LaunchRecipe } from '../agents/agent.ts'
import { type LaunchKind, MainstemError, type Policy, type SessionOptions } from '../model/index.ts'
import type { NewSession } from '../model/session/new-session.ts'
import type { AgentOptions } from './adapter.ts'
import { checkOptions } from './check-options.ts'
import { permissionOf } from './permission.ts'

/** Converts the options of a run to a session request. Refuses options that would otherwise be ignored. */
export function sessionRequest(agent: Agent, options: AgentOptions): NewSession {
  checkOptions(options)
  const { canUseTool, resume } = options
  const preferred: LaunchKind = agent.launches.live ? 'live' : 'oneshot'
  const recipe = agent.launches[preferred]
  if (canUseTool && !recipe?.capabilities.permissions) {
    throw new MainstemError(
      'unsupported_option',
      `canUseTool is not supported by ${agent.id}, because it does not ask before it uses a tool`,
      { agent: agent.id, option: 'canUseTool' },
    )
  }
  const cwd = resolve(options.cwd ?? '.')
  const permission = permissionOf(options)
  return {
    agent: agent.id,
    // The one-shot launch, which the session may choose for other options, would never call it.
    ...(canUseTool && { launch: preferred }),
    cwd,
    policy: {
      ...permission,
      ...(recipe && nearest(recipe, preferred, cwd, permission)),
      ...limitsOf(options),
    },
    options: sessionOptions(options),
    ...(resume && { resume: nativeIdOf(agent.id, resume) }),
    attended: canUseTool !== undefined,
  }
}

function sessionOptions({ model, effort, images, outputSchema, mcpServers }: AgentOptions): SessionOptions {
  return {
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
    ...(images && { images: [...images] }),
    ...(outputSchema && { outputSchema: { ...outputSchema } }),
    ...(mcpServers && { mcpServers: { ...mcpServers } }),
  }
}

/** Adds a sandbox for agents that accept edits without approval only inside one. This is stricter than requested. */
function nearest(recipe: LaunchRecipe, launch: LaunchKind, cwd: string, policy: Policy): Partial<Policy> {
  if (policy.approval !== 'auto-edit') return {}
  try {
    recipe.launch({ launch, cwd, policy, options: {}, epoch: 1 })
    return {}
  } catch {
    return { sandbox: 'workspace-write' }
  }
}

function limitsOf(options: AgentOptions): Partial<Policy> {
  const { maxTurns, maxBudgetUsd, allowedTools, disallowedTools } = options
  const tools = {
    ...(allowedTools && { available: allowedTools }),
    // An empty list excludes nothing, so the agent need not support the option.
    ...(disallowedTools && disallowedTools.length > 0 && { denied: disallowedTools }),
  }
  return {
    ...(Object.keys(tools).length > 0 && { tools }),
    ...(maxTurns !== undefined && { maxSteps: maxTurns }),
    ...(maxBudgetUsd !== undefined && { maxBudgetUsd }),
  }
}

/** The names of policy fields in this interface. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['maxSteps', 'maxTurns'],
  ['maxBudgetUsd', 'maxBudgetUsd'],
  ['tools.available', 'allowedTools'],
  ['tools.denied', 'disallowedTools'],
  ['tools', 'allowedTools or disallowedTools'],
])

/** Replaces the field that an error names by the option that the caller used. */
export function inOptionNames(refusal: MainstemError): MainstemError {
  const { code, details } = refusal
  const message = optionName(refusal.message)
  const names = ['option', 'field'].flatMap((key) => {
    const name = details?.[key]
    return typeof name === 'string' ? [[key, optionName(name)]] : []
  })
  return new MainstemError(code, message, details && { ...details, ...Object.fromEntries(names) }, {
    cause: refusal,
  })
}

/** The fields of session options have the names of the options of a run. */
function optionName(text: string): string {
  const own = text.replace(/^options\./, '')
  return own.replace(/^(?:policy\.)?([a-z]+(?:\.[a-z]+)?)/i, (whole, name) => NAMES.get(name) ?? whole)
}

/** More runs than a program is likely to resume. */
const MOST_KEPT = 1_000

/** The agents' own session ids by agent and session id. */
const known = new Map<string, string>()

/** Remembers the agent's own id of a session, so that the session can be resumed by its Mainstem id. */
export function rememberNativeId(agent: string, sessionId: string, nativeId: string): void {
  known.set(`${agent} ${sessionId}`, nativeId)
  const [oldest] = known.keys()
  if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest)
}

/** The agent's own id of the session of an earlier run. An unknown id is taken as the agent's own. */
export function nativeIdOf(agent: string, sessionId: string): string {
  return known.get(`${agent} ${sessionId}`) ?? sessionId
}
