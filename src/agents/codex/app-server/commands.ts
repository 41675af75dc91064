import { type Command, MainstemError, type Policy } from '../../../model/index.ts'
import type { Decoded, Write } from '../../agent.ts'
import { emitAll, line, nextProcess, nextTurn, nothing, refuse, send } from '../../decoded.ts'
import { compact, type Fields } from '../../fields.ts'
import { isSamePolicy } from '../../option.ts'
import { encodeAnswer } from './answers.ts'
import { callServer, interruptTurn } from './calls.ts'
import type { Held, State } from './state.ts'
import { HAS_MODES, MODES, threadParams, turnPolicy } from './thread.ts'
import { endTurn } from './turns.ts'

const CLIENT = {
  clientInfo: { name: 'mainstem', title: 'Mainstem', version: '1' },
  // Required to terminate the shells of an interrupted turn.
  capabilities: { experimentalApi: true },
}

export function encode(state: State, command: Command): Decoded {
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

/** After the handshake: opens a new thread or the one to resume. */
export function openThread(state: State): Write[] {
  const { resume } = state.start
  const params = threadParams(state.start)
  return [
    line({ method: 'initialized' }),
    resume === undefined
      ? callServer(state, 'thread/start', params)
      : callServer(state, 'thread/resume', { threadId: resume, ...params, excludeTurns: true }),
  ]
}

/** A prompt before its thread is open is buffered. */
function prompt(state: State, held: Held): Decoded {
  if (state.failure) return refuse(state.failure.code, state.failure.message)
  if (state.turn || state.held) return refuse('conflict', 'codex is still busy with a turn')
  if (state.threadId !== undefined) return send(startTurn(state, held))
  state.held = held
  return nothing
}

/** Sends the buffered prompt once the thread is open. */
export function releaseHeld(state: State): Write[] {
  const { held } = state
  state.held = undefined
  return held ? startTurn(state, held) : []
}

function startTurn(state: State, held: Held): Write[] {
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
function modeOf(state: State, mode: string): Fields {
  const model = state.next.model ?? state.known.get('model')
  const effort = state.start.options.effort ?? null
  return { mode, settings: { model, reasoning_effort: effort, developer_instructions: null } }
}

function textInput(prompt: string): Fields[] {
  return [{ type: 'text', text: prompt, text_elements: [] }]
}

function steer(state: State, prompt: string): Decoded {
  const { turn } = state
  if (!turn?.begun) return refuse('conflict', 'there is no open turn to steer')
  const params = { threadId: state.threadId, expectedTurnId: turn.id, input: textInput(prompt) }
  return send([callServer(state, 'turn/steer', params)])
}

function interrupt(state: State): Decoded {
  const { turn, held } = state
  // Nothing was sent yet, so there is nothing to cancel.
  if (held) return emitAll(endTurn(state, { evidence: 'aborted' }))
  if (!turn) return nothing
  turn.interrupting = true
  return turn.begun && turn.id !== undefined ? send([interruptTurn(state, turn.id)]) : nothing
}

/** Takes effect with the next turn, like all settings. */
function setMode(state: State, mode: string): Decoded {
  if (!MODES.includes(mode))
    return refuse('unsupported_option', `mode ${mode} is not supported by codex: ${HAS_MODES}`)
  state.next.mode = mode
  return nextTurn
}

/** Takes effect with the next turn: Codex has no command for it within a turn. */
function setPolicy(state: State, policy: Policy | undefined): Decoded {
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
