import { type Command, MainstemError, type Policy } from '../../../model/index.ts'
import { verbIn } from '../../../model/request/verb.ts'
import type { Decoded, Write } from '../../agent.ts'
import { emitAll, line, nextProcess, nextTurn, nothing, refuse, send } from '../../kit/decoded.ts'
import { compact, type Fields } from '../../kit/fields.ts'
import { isSamePolicy } from '../../kit/option.ts'
import { concernsOthers } from '../tool-lists.ts'
import { encodeAnswer } from './answers.ts'
import { callServer, interruptTurn } from './calls.ts'
import { goalCall, pauseGoal } from './goals.ts'
import type { AppServerState, HeldPrompt } from './state.ts'
import { HAS_MODES, MODES, threadParams, turnPolicy } from './thread.ts'
import { endTurn } from './turns.ts'

const CLIENT = {
  clientInfo: { name: 'mainstem', title: 'Mainstem', version: '1' },
  // Required to terminate the shells of an interrupted turn.
  capabilities: { experimentalApi: true },
}

export function encode(state: AppServerState, command: Command): Decoded {
  switch (command.type) {
    case 'open':
      state.opening = true
      return send([callServer(state, 'initialize', CLIENT)])
    case 'prompt':
      return prompt(state, { text: command.text, images: command.images ?? [] })
    case 'steer':
      return steer(state, command.text)
    case 'interrupt':
      return interrupt(state)
    case 'answer':
      return encodeAnswer(state, command)
    case 'set_model':
      // A thread keeps its model, and a turn cannot select the default.
      if (command.model === null) return nextProcess
      state.next.model = command.model
      return nextTurn
    case 'set_policy':
      return command.mode === undefined ? setPolicy(state, command.policy) : setMode(state, command.mode)
    case 'close':
      return send([{ kind: 'end' }])
    default:
      return command satisfies never
  }
}

/** After the handshake: passes skills, reads Codex's settings if they may define servers to remove, or opens the thread. */
export function afterHandshake(state: AppServerState): Write[] {
  const { cwd, options, policy } = state.start
  const { skills } = options
  const skillRoots = skills ? [callServer(state, 'skills/extraRoots/set', { extraRoots: skills })] : []
  const next = concernsOthers(options, policy)
    ? [callServer(state, 'config/read', { cwd, includeLayers: false })]
    : openThread(state)
  return [line({ method: 'initialized' }), ...skillRoots, ...next]
}

/** Opens a new thread or the one to resume. */
export function openThread(state: AppServerState, settings?: Fields): Write[] {
  const { resume, fork } = state.start
  const params = threadParams(state.start, settings)
  if (resume === undefined) return [callServer(state, 'thread/start', params)]
  const method = fork ? 'thread/fork' : 'thread/resume'
  return [callServer(state, method, { threadId: resume, ...params, excludeTurns: true })]
}

/** A prompt before its thread is open is buffered. */
function prompt(state: AppServerState, held: HeldPrompt): Decoded {
  if (state.failure) return refuse(state.failure.code, state.failure.message)
  if (state.turn || state.span.held) return refuse('conflict', 'codex is still busy with a turn')
  if (state.threadId !== undefined) return send(startTurn(state, held))
  state.span.held = held
  return nothing
}

/** Sends the buffered prompt once the thread is open. */
export function releaseHeld(state: AppServerState): Write[] {
  const { held } = state.span
  state.span.held = undefined
  return held ? startTurn(state, held) : []
}

function startTurn(state: AppServerState, held: HeldPrompt): Write[] {
  const { threadId } = state
  const { verb, argument = '' } = verbIn(held.text) ?? {}
  if (verb === 'goal') return [goalCall(state, argument)]
  if (verb === 'compact') return [callServer(state, 'thread/compact/start', { threadId })]
  if (verb === 'review') {
    const target = { type: 'uncommittedChanges' }
    return [callServer(state, 'review/start', { threadId, target, delivery: 'inline' })]
  }
  const { effort, outputSchema } = state.start.options
  const { model, mode, policy } = state.next
  const params = {
    threadId: state.threadId,
    input: [
      ...held.images.map(({ mimeType, data }) => ({ type: 'image', url: `data:${mimeType};base64,${data}` })),
      ...textInput(held.text),
    ],
    ...compact({ model, effort, outputSchema }),
    ...(policy && turnPolicy(policy)),
    ...(mode !== undefined && { collaborationMode: modeOf(state, mode) }),
  }
  state.sent = state.next
  state.next = {}
  return [callServer(state, 'turn/start', params)]
}

/** A mode includes a model, which overrides the turn's model; the mode's built-in instructions stay. */
function modeOf(state: AppServerState, mode: string): Fields {
  const model = state.next.model ?? state.known.model
  const effort = state.start.options.effort ?? null
  return { mode, settings: { model, reasoning_effort: effort, developer_instructions: null } }
}

function textInput(prompt: string): Fields[] {
  return [{ type: 'text', text: prompt, text_elements: [] }]
}

function steer(state: AppServerState, prompt: string): Decoded {
  const { turn } = state
  if (!turn?.begun) return refuse('conflict', 'there is no open turn to steer')
  const params = { threadId: state.threadId, expectedTurnId: turn.id, input: textInput(prompt) }
  return send([callServer(state, 'turn/steer', params)])
}

function interrupt(state: AppServerState): Decoded {
  const { turn } = state
  const { held } = state.span
  // Nothing was sent yet, so there is nothing to cancel.
  if (held) return emitAll(endTurn(state, { evidence: 'aborted' }))
  if (!turn) return nothing
  turn.interrupting = true
  return turn.begun && turn.id !== undefined
    ? send([...pauseGoal(state), interruptTurn(state, turn.id)])
    : nothing
}

/** Takes effect with the next turn, like all settings. */
function setMode(state: AppServerState, mode: string): Decoded {
  if (!MODES.includes(mode))
    return refuse('unsupported_option', `mode ${mode} is not supported by codex: ${HAS_MODES}`)
  state.next.mode = mode
  return nextTurn
}

/** Takes effect with the next turn: Codex has no command for it within a turn. */
function setPolicy(state: AppServerState, policy: Policy | undefined): Decoded {
  if (!policy) return refuse('invalid_request', 'either a policy or a mode is required')
  // A turn cannot select the sandbox of the user's configuration; only a process started without one uses it.
  if (policy.sandbox === 'none' && state.sandbox !== 'none') return nextProcess
  // Tool lists are read at process start.
  if (
    !isSamePolicy(policy, state.start.policy, 'approval', 'sandbox', 'network', 'writableRoots', 'maxSteps')
  )
    return nextProcess
  try {
    turnPolicy(policy)
  } catch (thrown) {
    if (thrown instanceof MainstemError) return refuse(thrown.code, thrown.message)
    throw thrown
  }
  state.next.policy = policy
  state.sandbox = policy.sandbox
  return nextTurn
}
