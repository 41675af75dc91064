import { MainstemError, type Policy } from '../../../model/index.ts'
import type { Decoded, Write } from '../../agent.ts'
import { emitAll, nextProcess, nextTurn, refuse, send } from '../../kit/decoded.ts'
import { compact, type Fields } from '../../kit/fields.ts'
import { isSamePolicy } from '../../kit/option.ts'
import { codeOfText } from '../errors.ts'
import { callServer, pauseGoal } from './calls.ts'
import { protocolRefused } from './notices.ts'
import type { AppServerState } from './state.ts'
import { HAS_MODES, MODES, turnPolicy } from './thread.ts'
import { endTurn } from './turns.ts'

export function setModel(state: AppServerState, model: string | null): Decoded {
  // A thread keeps its model, and a turn cannot select the default.
  if (model === null) return forNextProcess(state)
  state.next.model = model
  return forNextTurn(state)
}

export function setMode(state: AppServerState, mode: string): Decoded {
  if (!MODES.includes(mode))
    return refuse('unsupported_option', `mode ${mode} is not supported by codex: ${HAS_MODES}`)
  state.next.mode = mode
  return forNextTurn(state)
}

export function setPolicy(state: AppServerState, policy: Policy | undefined): Decoded {
  if (!policy) return refuse('invalid_request', 'either a policy or a mode is required')
  // A turn cannot select the sandbox of the user's configuration; only a process started without one uses it.
  if (policy.sandbox === 'none' && state.sandbox !== 'none') return forNextProcess(state)
  // Tool lists are read at process start.
  if (
    !isSamePolicy(policy, state.start.policy, 'approval', 'sandbox', 'network', 'writableRoots', 'maxSteps')
  )
    return forNextProcess(state)
  try {
    turnPolicy(policy)
  } catch (thrown) {
    if (thrown instanceof MainstemError) return refuse(thrown.code, thrown.message)
    throw thrown
  }
  state.next.policy = policy
  state.sandbox = policy.sandbox
  return forNextTurn(state)
}

/** Settings change with the next turn. A goal starts it without a prompt, which would carry them. */
function forNextTurn(state: AppServerState): Decoded {
  return state.pursues ? { ...nextTurn, writes: updateSettings(state) } : nextTurn
}

/** A goal is paused, or this process would start its next turn with the old settings. */
function forNextProcess(state: AppServerState): Decoded {
  return { ...nextProcess, writes: pauseGoal(state) }
}

/** Sets the changed settings of the thread, for turns that no prompt starts. */
export function updateSettings(state: AppServerState): Write[] {
  const { effort } = state.start.options
  const changed = { ...(state.isEffortSent ? {} : compact({ effort })), ...takeSettings(state) }
  state.isEffortSent = true
  if (Object.keys(changed).length === 0) return []
  return [callServer(state, 'thread/settings/update', { threadId: state.threadId, ...changed })]
}

/** The changed settings, as the parameters of a turn or a thread. */
export function takeSettings(state: AppServerState): Fields {
  const { model, mode, policy } = state.next
  const params = {
    ...compact({ model }),
    ...(policy && turnPolicy(policy)),
    ...(mode !== undefined && { collaborationMode: modeOf(state, mode) }),
  }
  state.sent = state.next
  state.next = {}
  return params
}

/** A mode includes a model, which overrides the turn's model; the mode's built-in instructions stay. */
function modeOf(state: AppServerState, mode: string): Fields {
  const model = state.next.model ?? state.known.model
  const effort = state.start.options.effort ?? null
  return { mode, settings: { model, reasoning_effort: effort, developer_instructions: null } }
}

/** A pending policy must not be lost: the next turn would have more permissions than requested. */
export function restoreSettings(state: AppServerState): void {
  state.next = { ...state.sent, ...state.next }
}

/** Starts nothing with the old settings: neither the turn that waits for the new ones, nor the next one of a goal. */
export function refusedSettings(state: AppServerState, error: Fields, message: string): Decoded {
  if (!state.span.held)
    return send(pauseGoal(state), [protocolRefused('thread/settings/update', error, message)])
  return emitAll(endTurn(state, { evidence: 'error', error: { code: codeOfText(message), message } }))
}
