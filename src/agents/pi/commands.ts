import type { Frame } from '../../framing/frame.ts'
import type { AnswerCommand, Command, Image } from '../../model/index.ts'
import { verbIn } from '../../model/request/verb.ts'
import type { Decoded } from '../agent.ts'
import { line, nextProcess, nothing, refuse, send } from '../kit/decoded.ts'
import { compact, type Fields, isFields, text } from '../kit/fields.ts'
import { isSamePolicy } from '../kit/option.ts'
import { askOf, denierOf, withDenialNotice } from '../kit/requests.ts'
import { encoder } from '../kit/rules.ts'
import { answerOf, applyAnswer, closeDialogs } from './dialogs.ts'
import type { PiState } from './state.ts'

/** Encodes commands as JSON lines, each with an id that its response repeats. */
export const encodeLive = encoder<PiState>({
  open: (state) =>
    write(state, [{ type: 'get_state' }, { type: 'get_available_models' }, { type: 'get_commands' }]),
  prompt: (state, command) => write(state, [messageOf(command)], command),
  steer(state, command) {
    if (!state.turn.open) return refuse('conflict', 'there is no open turn to steer')
    // Sent as a prompt: if the run has just ended, it starts another one, and nothing stays in a queue.
    return write(state, [{ ...promptMessage(command.text), streamingBehavior: 'steer' }], command)
  },
  interrupt(state) {
    const { emitted, messages } = closeDialogs(state)
    // Queued prompts would run after the interrupt.
    const step = write(state, [...messages, { type: 'clear_queue' }, { type: 'abort' }])
    return send(step.writes, emitted)
  },
  answer: encodeAnswer,
  set_model: (state, { model }) => (model === null ? nextProcess : setModel(state, model)),
  set_policy(state, { policy }) {
    if (!policy) return refuse('unsupported_option', 'pi has no modes')
    // Tools are selected at start.
    return isSamePolicy(state.start.policy, policy) ? nothing : nextProcess
  },
})

function encodeAnswer(state: PiState, command: AnswerCommand): Decoded {
  const toolId = askOf(state.ledger, command.requestId)?.toolId
  const answer = answerOf(state, command)
  if ('refusal' in answer) return answer.refusal
  const { decision } = command
  const isApproval = decision === 'allow' || decision === 'answered'
  const { writes } = write(state, [answer.message], { by: isApproval ? command.by : denierOf(command) })
  if (!isApproval) return withDenialNotice(send(writes), command)
  if (toolId === undefined || command.decision !== 'allow' || command.input === undefined) return send(writes)
  return send(writes, [{ type: 'tool.updated', toolId, input: command.input }])
}

function messageOf({ text, images }: Extract<Command, { type: 'prompt' }>): Fields {
  return verbIn(text)?.verb === 'compact' ? { type: 'compact' } : promptMessage(text, images)
}

function promptMessage(message: string, images: readonly Image[] = []): Fields {
  const blocks = images.map(({ mimeType, data }) => ({ type: 'image', data, mimeType }))
  return { type: 'prompt', message, ...(blocks.length > 0 && { images: blocks }) }
}

/** Pi needs provider and model separately; a model name may contain a slash too. */
function setModel(state: PiState, name: string): Decoded {
  const known = state.known.models?.filter(({ id }) => id === name || id.endsWith(`/${name}`)) ?? []
  const full = known.find(({ id }) => id === name)?.id ?? (known.length === 1 ? known[0]?.id : name)
  const slash = full?.indexOf('/') ?? -1
  if (full === undefined || slash < 0)
    return refuse('invalid_request', `model: use provider/model; pi does not offer "${name}"`)
  return write(state, [{ type: 'set_model', provider: full.slice(0, slash), modelId: full.slice(slash + 1) }])
}

/** Command properties that its line does not contain. */
interface CommandExtras {
  promptId?: string | undefined
  by?: AnswerCommand['by']
}

function write(state: PiState, messages: readonly Fields[], extras: CommandExtras = {}): Decoded {
  const lines = messages.map((message) => {
    // An answer has the id of its request.
    const named = message.id === undefined ? { id: `c${state.calls.next()}`, ...message } : message
    applySent(state, named, extras)
    return line(named)
  })
  return send(lines)
}

export function sentLive(state: PiState, frame: Frame): Command | undefined {
  return isFields(frame.value) ? applySent(state, frame.value) : undefined
}

/** Updates the state for a line sent to the agent; both `encode` and transcripts use it. */
function applySent(
  state: PiState,
  message: Fields,
  { promptId, by }: CommandExtras = {},
): Command | undefined {
  const type = text(message, 'type') ?? '?'
  const id = text(message, 'id') ?? ''
  switch (type) {
    case 'extension_ui_response':
      return applyAnswer(state, message, by)
    case 'prompt':
    case 'steer':
    case 'follow_up':
      return notePrompt(state, id, message, promptId)
    case 'compact':
      // Its response ends the turn.
      state.calls.add(id, { type, prompt: { text: '/compact', promptId, opens: true } })
      state.turn.open = true
      return { type: 'prompt', text: '/compact', ...compact({ promptId }) }
    case 'abort':
      state.calls.add(id, { type })
      state.turn.interrupting = state.turn.open
      if (state.turn.open) state.calls.interrupt(id)
      return { type: 'interrupt' }
    default:
      state.calls.add(id, { type })
      return undefined
  }
}

function notePrompt(state: PiState, id: string, message: Fields, promptId: string | undefined): Command {
  const prompt = text(message, 'message') ?? ''
  const joins = state.turn.open || text(message, 'streamingBehavior') !== undefined
  state.calls.add(id, { type: 'prompt', prompt: { text: prompt, promptId, opens: !joins } })
  const named = { text: prompt, ...compact({ promptId }) }
  if (joins) return { type: 'steer', ...named }
  state.turn.open = true
  state.turn.awaitsEcho = true
  return { type: 'prompt', ...named }
}
