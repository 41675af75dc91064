import type { Agent } from '../../agents/agent.ts'
import { DEFAULT_POLICY, MainstemError } from '../../model/index.ts'
import type { NewSession } from '../../model/session/new-session.ts'
import { type Chosen, chooseRecipe } from './recipes.ts'

/**
 * Chooses the launch of a new session. Some agents support an option only in their one-shot launch: a session that
 * names no launch gets it then, unless requests for approval would be lost. `check` throws if a launch is refused.
 */
export function fittingLaunch(
  agent: Agent,
  request: NewSession,
  version: string | undefined,
  check: (chosen: Chosen) => void,
): Chosen {
  const chosen = chooseRecipe(agent, request, version)
  try {
    check(chosen)
    return chosen
  } catch (thrown) {
    const other = request.launch === undefined && isUnsupported(thrown) ? oneshotOf(chosen) : undefined
    if (!other || !isAccepted(other, check)) throw thrown
    if (needsApproval(request)) throw withAdvice(thrown)
    return other
  }
}

function oneshotOf(chosen: Chosen): Chosen | undefined {
  const recipe = chosen.launch === 'live' ? chosen.agent.launches.oneshot : undefined
  return recipe && { ...chosen, launch: 'oneshot', recipe }
}

function isAccepted(chosen: Chosen, check: (chosen: Chosen) => void): boolean {
  try {
    check(chosen)
    return true
  } catch (thrown) {
    if (isUnsupported(thrown)) return false
    throw thrown
  }
}

/** A person may have to decide, which a one-shot launch would not ask for. */
function needsApproval({ attended = true, policy = DEFAULT_POLICY }: NewSession): boolean {
  return attended && policy.approval !== 'auto-all'
}

function isUnsupported(thrown: unknown): thrown is MainstemError {
  return thrown instanceof MainstemError && thrown.code === 'unsupported_option'
}

function withAdvice(refusal: unknown): unknown {
  if (!isUnsupported(refusal)) return refusal
  const advice =
    'Approve everything (approval "auto-all", or "autoAll" of the board protocol), or set launch to "oneshot": that launch supports it, but cannot request approval.'
  return new MainstemError(refusal.code, refusal.message, { ...refusal.details, advice }, { cause: refusal })
}
