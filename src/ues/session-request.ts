import { resolve } from 'node:path'
import type { Agent, LaunchRecipe } from '../agents/agent.ts'
import { type LaunchKind, MainstemError, type Policy } from '../model/index.ts'
import type { NewSession } from '../sessions/deps.ts'
import type { AgentOptions } from './adapter.ts'
import { checkOptions } from './check-options.ts'
import { nativeIdOf } from './native-session-ids.ts'
import { permissionOf } from './permission.ts'

/** Converts the options of a run to a session request. Refuses options that would otherwise be ignored. */
export function sessionRequest(agent: Agent, options: AgentOptions): NewSession {
  checkOptions(options)
  const { canUseTool } = options
  const preferred: LaunchKind = agent.launches.live ? 'live' : 'oneshot'
  if (canUseTool && !agent.launches[preferred]?.capabilities.permissions) {
    throw new MainstemError(
      'unsupported_option',
      `canUseTool is not supported by ${agent.id}, because it does not ask before it uses a tool`,
      { agent: agent.id, option: 'canUseTool' },
    )
  }
  const request = requestWith(agent, options, preferred)
  if (canUseTool || preferred === 'oneshot' || isSupported(agent, request)) return request
  // Some agents support an option only in one-shot mode, and a run is a single turn.
  const other = requestWith(agent, options, 'oneshot')
  return isSupported(agent, other) ? other : request
}

/** Whether the launch of a request supports its policy. */
function isSupported(agent: Agent, { launch = 'live', cwd, policy, options = {} }: NewSession): boolean {
  const recipe = agent.launches[launch]
  if (!recipe || !policy) return false
  try {
    recipe.launch({ launch, cwd, policy, options, epoch: 1 })
    return true
  } catch (thrown) {
    if (thrown instanceof MainstemError && thrown.code === 'unsupported_option') return false
    throw thrown
  }
}

function requestWith(agent: Agent, options: AgentOptions, launch: LaunchKind): NewSession {
  const { model, resume, canUseTool } = options
  const recipe = agent.launches[launch]
  const cwd = resolve(options.cwd ?? '.')
  const permission = permissionOf(options)
  return {
    agent: agent.id,
    launch,
    cwd,
    policy: { ...permission, ...(recipe && nearest(recipe, launch, cwd, permission)), ...limitsOf(options) },
    options: { ...(model !== undefined && { model }) },
    ...(resume && { resume: nativeIdOf(agent.id, resume) }),
    attended: canUseTool !== undefined,
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
  ['model', 'model'],
])

/** Replaces the policy field that an error names by the option that the caller used. */
export function inOptionNames(refusal: MainstemError): MainstemError {
  const { code, details } = refusal
  const message = refusal.message.replace(
    /^(?:policy\.|options\.)?([a-z]+(?:\.[a-z]+)?)/i,
    (whole, name) => NAMES.get(name) ?? whole,
  )
  const option = NAMES.get(String(details?.option)) ?? details?.option
  return new MainstemError(code, message, details && { ...details, option }, { cause: refusal })
}
