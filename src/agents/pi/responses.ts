import type { NoticeCode } from '../../model/events/report.ts'
import type { Named } from '../../model/events/session.ts'
import type { Decoded, Emitted } from '../agent.ts'
import { emit, emitAll, nothing } from '../kit/decoded.ts'
import { compact, type Fields, fields, isFields, list, text } from '../kit/fields.ts'
import { updateSession } from '../kit/known.ts'
import { ruleTable } from '../kit/rules.ts'
import { codeOf } from './errors.ts'
import type { PiCall, PiState } from './state.ts'
import { endTurn } from './turn.ts'

type ResponseRule = (state: PiState, data: Fields) => Emitted[]

/** Responses with data; all others only confirm the command. */
const ruleOf = ruleTable<ResponseRule>({
  get_state(state, data) {
    const nativeSessionId = text(data, 'sessionId')
    return updateSession(state, {
      nativeSessionId,
      model: modelOf(fields(data, 'model'))?.id,
      title: text(data, 'sessionName'),
      configOptions: thinkingOption(text(data, 'thinkingLevel')),
    })
  },
  get_available_models(state, data) {
    const models = list(data, 'models').flatMap((model) => (isFields(model) ? (modelOf(model) ?? []) : []))
    return updateSession(state, { models })
  },
  get_commands(state, data) {
    const commands = list(data, 'commands').flatMap((command) =>
      isFields(command) ? (text(command, 'name') ?? []) : [],
    )
    return updateSession(state, { commands })
  },
  set_model: (state, data) => updateSession(state, { model: modelOf(data)?.id }),
})

export function decodeResponse(state: PiState, native: Fields): Decoded {
  const id = text(native, 'id') ?? ''
  const sent = state.calls.take(id)
  if (native.success === false) return decodeRefusal(state, native, sent)
  if (sent?.type === 'compact') return compacted(state)
  if (sent?.prompt) return decodeDisposition(state, native, sent.prompt)
  const rule = ruleOf(native.command)
  return rule ? emitAll(rule(state, fields(native, 'data'))) : nothing
}

/** The end of the compaction has reported it. */
function compacted(state: PiState): Decoded {
  if (!state.turn.open) return nothing
  state.turn.settled = true
  return emitAll(endTurn(state))
}

/** The result of a prompt: a run, a queue position, or a command that an extension handled. */
function decodeDisposition(state: PiState, native: Fields, prompt: NonNullable<PiCall['prompt']>): Decoded {
  const disposition = text(fields(native, 'data'), 'disposition')
  if (disposition === 'handled') {
    if (!prompt.opens || state.running || !state.turn.open) return nothing
    state.turn.settled = true
    return emitAll(endTurn(state))
  }
  if (disposition !== 'started' || prompt.opens || state.turn.open) return nothing
  // The prompt was meant to join a turn that had just ended.
  state.turn.open = true
  state.turn.awaitsEcho = true
  const { text: promptText, promptId } = prompt
  return emit({ type: 'turn.started', origin: 'prompt', prompt: promptText, ...compact({ promptId }) })
}

function decodeRefusal(state: PiState, native: Fields, sent: PiCall | undefined): Decoded {
  const message = text(native, 'error') ?? 'refused'
  if (sent?.prompt?.opens && state.turn.open) {
    if (state.turn.interrupting) state.turn.settled = state.turn.aborted = true
    else state.turn.failure = { code: codeOf(message), message }
    return emitAll(endTurn(state))
  }
  const command = text(native, 'command') ?? sent?.type
  return emit({
    type: 'notice.raised',
    level: 'warning',
    code: refusalCode(command),
    message,
    data: compact({ command }),
  })
}

function refusalCode(command: string | undefined): NoticeCode {
  if (command === 'abort') return 'interrupt_refused'
  return command === 'set_model' ? 'mode_refused' : 'protocol_refused'
}

/** Without a model, pi reports a placeholder. */
function modelOf(model: Fields): Named | undefined {
  const provider = text(model, 'provider')
  const id = text(model, 'id')
  if (provider === undefined || id === undefined || provider === 'unknown') return undefined
  return { id: `${provider}/${id}`, ...compact({ name: text(model, 'name') }) }
}

export function thinkingOption(level: string | undefined) {
  return level === undefined ? undefined : [{ id: 'thinking', value: level }]
}
