import type { NoticeCode } from '../../model/events/report.ts'
import type { Named } from '../../model/events/session.ts'
import type { Decoded, Emitted } from '../agent.ts'
import { emit, emitAll, nothing } from '../decoded.ts'
import { compact, type Fields, fields, isFields, list, text } from '../fields.ts'
import { ruleTable } from '../rules.ts'
import { codeOf } from './errors.ts'
import { type Sent, type State, update } from './state.ts'
import { endTurn } from './turn.ts'

type Rule = (state: State, data: Fields) => Emitted[]

/** Responses with data; all others only confirm the command. */
const ruleOf = ruleTable<Rule>({
  get_state(state, data) {
    const nativeSessionId = text(data, 'sessionId')
    return update(state, {
      nativeSessionId,
      model: modelOf(fields(data, 'model'))?.id,
      title: text(data, 'sessionName'),
      configOptions: thinkingOption(text(data, 'thinkingLevel')),
    })
  },
  get_available_models(state, data) {
    const models = list(data, 'models').flatMap((model) => (isFields(model) ? (modelOf(model) ?? []) : []))
    return update(state, { models })
  },
  get_commands(state, data) {
    const commands = list(data, 'commands').flatMap((command) =>
      isFields(command) ? (text(command, 'name') ?? []) : [],
    )
    return update(state, { commands })
  },
  set_model: (state, data) => update(state, { model: modelOf(data)?.id }),
})

export function decodeResponse(state: State, native: Fields): Decoded {
  const id = text(native, 'id') ?? ''
  const sent = state.commands.get(id)
  state.commands.delete(id)
  state.aborts.delete(id)
  if (native.success === false) return decodeRefusal(state, native, sent)
  if (sent?.prompt) return decodeDisposition(state, native, sent.prompt)
  const rule = ruleOf(native.command)
  return rule ? emitAll(rule(state, fields(native, 'data'))) : nothing
}

/** The result of a prompt: a run, a queue position, or a command that an extension handled. */
function decodeDisposition(state: State, native: Fields, prompt: NonNullable<Sent['prompt']>): Decoded {
  const disposition = text(fields(native, 'data'), 'disposition')
  if (disposition === 'handled') {
    if (!prompt.opens || state.running || !state.turnOpen) return nothing
    state.settled = true
    return emitAll(endTurn(state))
  }
  if (disposition !== 'started' || prompt.opens || state.turnOpen) return nothing
  // The prompt was meant to join a turn that had just ended.
  state.turnOpen = true
  state.awaitsEcho = true
  const { text: promptText, promptId } = prompt
  return emit({ type: 'turn.started', origin: 'prompt', prompt: promptText, ...compact({ promptId }) })
}

function decodeRefusal(state: State, native: Fields, sent: Sent | undefined): Decoded {
  const message = text(native, 'error') ?? 'refused'
  if (sent?.prompt?.opens && state.turnOpen) {
    state.failure = { code: codeOf(message), message }
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
