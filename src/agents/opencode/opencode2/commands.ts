import type { AnswerCommand, Command } from '../../../model/index.ts'
import { verbIn } from '../../../model/request/verb.ts'
import type { Decoded, Write } from '../../agent.ts'
import { emitAll, nothing, refuse, send } from '../../kit/decoded.ts'
import { type Fields, fields, objects, text, texts } from '../../kit/fields.ts'
import { askOf, closeRequest, denierOf, withDenialNotice } from '../../kit/requests.ts'
import { encoder } from '../../kit/rules.ts'
import { refuseAsked } from '../asks.ts'
import { setModel, setPolicy } from '../settings.ts'
import { noteRejection } from './asks.ts'
import { removeUndelivered } from './inbox.ts'
import { isReady, modelRef, PROBE } from './opening.ts'
import { newPromptId } from './prompt-id.ts'
import { compactCall, formCancel, formReply, permissionReply, promptCall } from './replies.ts'
import { type Ask, newCompaction, newTurn, type OpencodeState } from './state.ts'
import { endTurn } from './turn.ts'

type PromptToSend = Extract<Command, { type: 'prompt' }>

/** Encodes commands as HTTP calls. The response arrives as a frame with the call's tag. */
export const encode = encoder<OpencodeState>({
  open({ opening }) {
    opening.driven = true
    return send([PROBE])
  },
  prompt,
  steer: (state, { text }) => steer(state, text),
  interrupt,
  answer,
  set_model: setModel,
  set_policy: setPolicy,
})

/** One prompt at a time: a second one would join the execution of the first. */
function prompt(state: OpencodeState, command: PromptToSend): Decoded {
  const { opening, turn } = state
  if (opening.failure) return { ...nothing, refused: opening.failure.error }
  if (turn) return refuse('conflict', 'opencode is still working on the last prompt')
  state.turn = newTurn()
  if (isReady(state)) return sendPrompt(state, command)
  opening.waiting = command
  return nothing
}

export function sendPrompt(state: OpencodeState, command: PromptToSend): Decoded {
  const { root, turn } = state
  if (!root || !turn) return nothing
  if (verbIn(command.text)?.verb === 'compact') {
    turn.compaction = newCompaction()
    // The server names it in its response.
    return send([...selections(state, root.id), compactCall(root.id)])
  }
  const body = promptBody(state, root.id, command)
  turn.promptId = text(body, 'id')
  turn.body = body
  return send([...selections(state, root.id), promptCall(root.id, body)])
}

function promptBody(
  state: OpencodeState,
  sessionId: string,
  { text: prompt, images = [] }: PromptToSend,
): Fields {
  const files = images.map(({ mimeType, data }) => ({ uri: `data:${mimeType};base64,${data}` }))
  return { id: newPromptId(state, sessionId), text: prompt, ...(files.length > 0 && { files }) }
}

/** A model or an agent that differs from the session's is selected before the prompt. */
function selections(state: OpencodeState, sessionId: string): Write[] {
  const { model, mode, known, start } = state
  const writes: Write[] = []
  const select = (what: string, body: Fields) =>
    writes.push({ kind: 'http', method: 'POST', path: `/api/session/${sessionId}/${what}`, tag: what, body })
  if (model !== undefined && model !== known.model)
    select('model', { model: modelRef(model, start.options.effort) })
  if (mode !== undefined && mode !== known.mode) select('agent', { agent: mode })
  return writes
}

/** A prompt during a turn is read before the next model call, and its turn continues until both are answered. */
function steer(state: OpencodeState, text: string): Decoded {
  const { root, turn, opening } = state
  if (!root || !turn || opening.waiting) return refuse('conflict', 'there is no open turn to steer')
  const body = promptBody(state, root.id, { type: 'prompt', text })
  return send([promptCall(root.id, { ...body, delivery: 'steer' }, 'steer')])
}

/** An interrupt does not remove a prompt that the model has not read, so it is removed too. */
function interrupt(state: OpencodeState): Decoded {
  const { root, turn, opening } = state
  if (!turn) return nothing
  if (!root || opening.waiting) {
    // Nothing was sent yet, so no event of the server would end this turn.
    opening.waiting = undefined
    return emitAll(endTurn(state, { exit: { cause: 'interrupt' } }))
  }
  turn.aborted = true
  state.aborting = true
  const stop: Write = {
    kind: 'http',
    method: 'POST',
    path: `/api/session/${root.id}/interrupt`,
    tag: 'interrupt',
  }
  return send([stop, ...removeUndelivered(state).writes])
}

function answer(state: OpencodeState, command: AnswerCommand): Decoded {
  const { requestId, decision } = command
  const ask = askOf(state.ledger, requestId)
  if (!ask) return refuse('request_not_found', `opencode has no open request ${requestId}`)
  const step =
    ask.kind === 'question' ? answerForm(state, command, ask) : answerPermission(state, command, ask)
  if (step.refused) return step
  closeRequest(state.ledger, requestId)
  if (decision === 'allow' || decision === 'answered') return step
  // OpenCode reports us as the user; only this side knows who decided.
  refuseAsked(state, ask, denierOf(command))
  noteRejection(state, ask, command)
  const denied = command.interrupt ? send([...step.writes, ...interrupt(state).writes]) : step
  return withDenialNotice(denied, command)
}

/** With a message the model continues; without one the turn ends here. */
function answerPermission(
  state: OpencodeState,
  { decision, scope, message }: AnswerCommand,
  ask: Ask,
): Decoded {
  if (decision === 'answered')
    return refuse('invalid_request', 'decision: a permission must be allowed or denied')
  const { session, nativeId, native } = ask
  if (decision !== 'allow') return send([permissionReply(state, session, nativeId, 'reject', message)])
  if (scope !== undefined && scope !== 'once')
    state.grants.push({ action: text(native, 'action') ?? '', patterns: texts(native, 'save') ?? [] })
  return send([permissionReply(state, session, nativeId, 'once')])
}

function answerForm(
  state: OpencodeState,
  command: AnswerCommand,
  { session, nativeId, native }: Ask,
): Decoded {
  const { decision, answers = {}, message } = command
  if (decision === 'allow')
    return refuse('invalid_request', 'decision: a question must be answered or denied')
  if (decision !== 'answered') return send([formCancel(state, session, nativeId, message)])
  const given = Object.entries(answers).filter(([, values]) => values.length > 0)
  if (given.length === 0) return refuse('invalid_request', 'answers: an answer must not be empty')
  const byKey = new Map(objects(native, 'fields').map((field) => [text(field, 'key'), field]))
  const answer = given.map(([key, values]) => [key, formValue(byKey.get(key) ?? fields({}, ''), values)])
  return send([formReply(session, nativeId, Object.fromEntries(answer))])
}

/** An answer has the label of an option; the server expects its value. */
function formValue(field: Fields, labels: readonly string[]): unknown {
  const options = objects(field, 'options')
  const values = labels.map(
    (label) => text(options.find((one) => one.label === label) ?? {}, 'value') ?? label,
  )
  const [first = ''] = values
  switch (field.type) {
    case 'multiselect':
      return values
    case 'boolean':
      return first === 'true'
    case 'number':
    case 'integer':
      return Number(first)
    default:
      return first
  }
}
