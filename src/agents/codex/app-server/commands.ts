import { verbIn } from '../../../model/request/verb.ts'
import type { Decoded, Write } from '../../agent.ts'
import { emitAll, line, nothing, refuse, send } from '../../kit/decoded.ts'
import { compact, type Fields } from '../../kit/fields.ts'
import { encoder } from '../../kit/rules.ts'
import { concernsOthers } from '../tool-lists.ts'
import { encodeAnswer } from './answers.ts'
import { callServer, interruptTurn, pauseGoal } from './calls.ts'
import { goalCall, isWork } from './goals.ts'
import { setMode, setModel, setPolicy, takeSettings, updateSettings } from './settings.ts'
import type { AppServerState, HeldPrompt } from './state.ts'
import { threadParams } from './thread.ts'
import { endTurn } from './turns.ts'

const CLIENT = {
  clientInfo: { name: 'mainstem', title: 'Mainstem', version: '1' },
  // Required to terminate the shells of an interrupted turn.
  capabilities: { experimentalApi: true },
}

export const encode = encoder<AppServerState>({
  open(state) {
    state.opening = true
    return send([callServer(state, 'initialize', CLIENT)])
  },
  prompt: (state, { text, images = [] }) => prompt(state, { text, images }),
  steer: (state, { text }) => steer(state, text),
  interrupt,
  answer: encodeAnswer,
  set_model: (state, { model }) => setModel(state, model),
  set_policy: (state, { policy, mode }) =>
    mode === undefined ? setPolicy(state, policy) : setMode(state, mode),
})

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

/** Sends the buffered prompt once the thread is open, or has the settings for it. */
export function releaseHeld(state: AppServerState): Write[] {
  const { held } = state.span
  state.span.held = undefined
  return held ? startTurn(state, held) : []
}

function startTurn(state: AppServerState, held: HeldPrompt): Write[] {
  const { verb, argument = '' } = verbIn(held.text) ?? {}
  switch (verb) {
    case 'goal':
      return isWork(argument)
        ? withSettings(state, held, () => goalCall(state, argument))
        : [goalCall(state, argument)]
    case 'compact':
      return withSettings(state, held, () =>
        callServer(state, 'thread/compact/start', { threadId: state.threadId }),
      )
    case 'review':
      return withSettings(state, held, () => callReview(state))
    default:
      return [callServer(state, 'turn/start', turnParams(state, held))]
  }
}

/** Only a prompt carries settings. What else starts a turn waits until the thread has them. */
function withSettings(state: AppServerState, held: HeldPrompt, call: () => Write): Write[] {
  const update = updateSettings(state)
  if (update.length > 0) state.span.held = held
  return update.length > 0 ? update : [call()]
}

function callReview(state: AppServerState): Write {
  const target = { type: 'uncommittedChanges' }
  return callServer(state, 'review/start', { threadId: state.threadId, target, delivery: 'inline' })
}

function turnParams(state: AppServerState, { text, images }: HeldPrompt): Fields {
  state.isEffortSent = true
  const { effort, outputSchema } = state.start.options
  const input = [
    ...images.map(({ mimeType, data }) => ({ type: 'image', url: `data:${mimeType};base64,${data}` })),
    ...textInput(text),
  ]
  return {
    threadId: state.threadId,
    input,
    ...compact({ effort, outputSchema }),
    ...takeSettings(state),
  }
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
  // Only a begun turn can be interrupted, but its goal can be paused.
  return send(turn.begun && turn.id !== undefined ? interruptTurn(state, turn.id) : pauseGoal(state))
}
