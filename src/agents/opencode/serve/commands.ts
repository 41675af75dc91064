import type { AnswerCommand, Command } from '../../../model/index.ts'
import { verbIn } from '../../../model/request/verb.ts'
import type { Decoded, Write } from '../../agent.ts'
import { emitAll, nothing, refuse, send } from '../../kit/decoded.ts'
import { compact, type Fields } from '../../kit/fields.ts'
import { askOf, denierOf, withDenialNotice } from '../../kit/requests.ts'
import { encoder } from '../../kit/rules.ts'
import { refuseAsked } from '../asks.ts'
import { deniedPermissions } from '../permission.ts'
import { setModel, setPolicy } from '../settings.ts'
import { applySent } from './sent.ts'
import type { ServeAsk, ServeState } from './state.ts'
import { endTurn } from './turn.ts'

type ServePrompt = Extract<Command, { type: 'prompt' }>
type HttpCall = Extract<Write, { kind: 'http' }>

/** Encodes commands as HTTP calls. The response arrives as a frame with the call's tag: see `decodeAnswer`. */
export const encode = encoder<ServeState>({
  open(state, { resume }) {
    if (resume === undefined) return call(state, 'session', 'POST', '/session', sessionBody(state))
    return state.start.fork
      ? call(state, 'session', 'POST', `/session/${resume}/fork`, {})
      : call(state, 'session', 'GET', `/session/${resume}`)
  },
  prompt,
  steer: (state, { text }) => steer(state, text),
  interrupt,
  answer,
  set_model: setModel,
  set_policy: setPolicy,
})

function call(state: ServeState, tag: string, method: 'GET' | 'POST', path: string, body?: Fields): Decoded {
  const write: HttpCall = { kind: 'http', method, path, tag, ...(body && { body }) }
  applySent(state, write)
  return send([write])
}

/** Rules of the session come last and in order, so no settings can allow what is denied here. */
function sessionBody(state: ServeState): Fields {
  const denied = state.start.policy.tools?.denied
  if (!denied) return {}
  return {
    permission: deniedPermissions(denied).map((permission) => ({ permission, pattern: '*', action: 'deny' })),
  }
}

function promptBody(state: ServeState, { text: prompt, images = [] }: ServePrompt): Fields {
  const model = modelRef(state.model)
  const { effort, systemPrompt, outputSchema } = state.start.options
  return {
    parts: [
      { type: 'text', text: prompt },
      ...images.map(({ mimeType, data }) => ({
        type: 'file',
        mime: mimeType,
        url: `data:${mimeType};base64,${data}`,
      })),
    ],
    ...(model && { model }),
    ...compact({ agent: state.mode, variant: effort, system: systemPrompt?.append }),
    ...(outputSchema && { format: { type: 'json_schema', schema: outputSchema } }),
  }
}

export function prompt(state: ServeState, command: ServePrompt): Decoded {
  if (state.openFailure) return { ...nothing, refused: state.openFailure.error }
  if (state.turn.open) return refuse('conflict', 'opencode is still working on the last prompt')
  if (state.root && verbIn(command.text)?.verb === 'compact') return summarise(state, state.root.id)
  const body = promptBody(state, command)
  if (state.root) return call(state, 'prompt', 'POST', `/session/${state.root.id}/prompt_async`, body)
  state.turn.open = true
  state.waiting = command
  return nothing
}

/** The call names the model that writes the summary: the one that was used last. */
function summarise(state: ServeState, sessionId: string): Decoded {
  const model = modelRef(state.model ?? state.known.model)
  if (!model) return refuse('unsupported_option', 'compact: opencode has used no model in this session yet')
  const path = `/session/${sessionId}/summarize`
  const write: HttpCall = { kind: 'http', method: 'POST', path, tag: 'compact', body: model, isLong: true }
  applySent(state, write)
  return send([write])
}

/** `provider/model`, as OpenCode refers to it. */
function modelRef(model: string | undefined): Fields | undefined {
  const [providerID, ...modelID] = model?.split('/') ?? []
  return providerID === undefined ? undefined : { providerID, modelID: modelID.join('/') }
}

/** A prompt during a turn is read before the next model call, and its turn continues until both are answered. */
function steer(state: ServeState, text: string): Decoded {
  if (!state.root || !state.turn.open || state.waiting)
    return refuse('conflict', 'there is no open turn to steer')
  const body = promptBody(state, { type: 'prompt', text })
  return call(state, 'steer', 'POST', `/session/${state.root.id}/prompt_async`, body)
}

function interrupt(state: ServeState): Decoded {
  if (!state.turn.open) return nothing
  if (state.root && !state.waiting) {
    return call(state, 'abort', 'POST', `/session/${state.root.id}/abort`)
  }
  // Nothing was sent yet, so no event of the server would end this turn.
  state.waiting = undefined
  const emitted = endTurn(state, { cause: 'interrupt' })
  return emitAll(emitted)
}

function answer(state: ServeState, command: AnswerCommand): Decoded {
  const asked = askOf(state.ledger, command.requestId)
  if (!asked) return refuse('request_not_found', `opencode has no open request ${command.requestId}`)
  const path = `/${asked.kind}/${asked.nativeId}`
  const step =
    asked.kind === 'question'
      ? answerQuestion(state, command, asked, path)
      : answerPermission(state, command, path)
  if (step.refused || command.decision === 'allow' || command.decision === 'answered') return step
  // OpenCode reports us as the user; only this side knows who decided.
  refuseAsked(state, asked, denierOf(command))
  const denied = command.interrupt ? send([...step.writes, ...interrupt(state).writes]) : step
  return withDenialNotice(denied, command)
}

function answerPermission(
  state: ServeState,
  { decision, scope, message }: AnswerCommand,
  path: string,
): Decoded {
  if (decision === 'answered')
    return refuse('invalid_request', 'decision: a permission must be allowed or denied')
  const lasting = scope !== undefined && scope !== 'once'
  const reply = decision === 'allow' ? (lasting ? 'always' : 'once') : 'reject'
  // With a message the model continues; without one the turn ends here.
  return call(state, 'answer', 'POST', `${path}/reply`, { reply, ...compact({ message }) })
}

function answerQuestion(state: ServeState, command: AnswerCommand, asked: ServeAsk, path: string): Decoded {
  if (command.decision === 'allow')
    return refuse('invalid_request', 'decision: a question must be answered or denied')
  if (command.decision !== 'answered') return call(state, 'answer', 'POST', `${path}/reject`, {})
  const given = command.answers ?? {}
  const answers = Array.from({ length: asked.questions }, (_, index) => given[index] ?? [])
  if (answers.every((labels) => labels.length === 0))
    return refuse('invalid_request', 'answers: an answer must not be empty')
  return call(state, 'answer', 'POST', `${path}/reply`, { answers })
}
