import { addUsage } from '../../../model/index.ts'
import type { Decoded, Emitted } from '../../agent.ts'
import { emit, emitAll, held, nothing, skipped, unmapped } from '../../kit/decoded.ts'
import { type Fields, fields, text } from '../../kit/fields.ts'
import { currentId } from '../../kit/ledger.ts'
import { addDelta, completeMessage } from '../../kit/messages.ts'
import { ruleTable } from '../../kit/rules.ts'
import { announce, type SessionThread } from '../threads.ts'
import { stepUsage } from '../usage.ts'
import { decodeCall } from './calls.ts'
import { hold, releaseDeltas } from './frame-buffer.ts'
import { partOf, type ServeState } from './state.ts'

type PartRule = (state: ServeState, thread: SessionThread, part: Fields, id: string) => Emitted[]

const ruleOf = ruleTable<PartRule>({
  text: (state, thread, part, id) => decodeText(state, thread, part, id, 'text'),
  reasoning: (state, thread, part, id) => decodeText(state, thread, part, id, 'thinking'),
  tool: decodeCall,
  'step-finish': stepFinish,
  // The model is called; its usage is reported at its end.
  'step-start': () => [],
  // Markers of OpenCode's file history.
  snapshot: () => [],
  patch: () => [],
  // The session status reports the same.
  retry: () => [],
  compaction: () => [],
})

/** Decodes the current state of a part of an answer. */
export function decodePart(state: ServeState, thread: SessionThread, part: Fields, raw: string): Decoded {
  const type = text(part, 'type') ?? '?'
  const id = text(part, 'id')
  const rule = ruleOf(type)
  if (!rule || id === undefined) return unmapped(`message.part.updated/${type}`, raw)
  const known = state.turn.parts.get(id)
  // A part that ended is repeated as it was. The text of one that is withheld is never reported.
  if (known?.done) {
    const isSame = known.kind === 'other' || text(part, 'text') === thread.answer
    return isSame ? skipped : nothing
  }
  const emitted = [...announce(state, thread), ...rule(state, thread, part, id)]
  // The start of the text was completed before.
  const isHeld = (known && known.completed !== '') || isChanging(fields(part, 'state'))
  return isHeld ? held(emitted) : emitAll(emitted)
}

/** A call that changes a file names the change before its end, which reports it. */
function isChanging(call: Fields): boolean {
  return text(call, 'status') === 'running' && text(fields(call, 'metadata'), 'diff') !== undefined
}

export function isWords({ type }: Fields): boolean {
  return type === 'text' || type === 'reasoning'
}

/** Text for the model only, such as the summary of a compaction. */
export function withhold(state: ServeState, thread: SessionThread, part: Fields): Decoded {
  const id = text(part, 'id') ?? ''
  partOf(state, thread, id, 'other').done = true
  releaseDeltas(state, id)
  return skipped
}

function decodeText(
  state: ServeState,
  thread: SessionThread,
  native: Fields,
  id: string,
  kind: 'text' | 'thinking',
): Emitted[] {
  const part = partOf(state, thread, id, kind)
  if (part.kind !== kind) return []
  const { ledger } = state
  const emitted: Emitted[] = []
  const waiting = part.isGapped ? [] : releaseDeltas(state, id)
  for (const { properties } of waiting) {
    emitted.push(addDelta(ledger, kind, id, text(properties, 'delta') ?? '', thread.speaker))
  }
  const whole = text(native, 'text') ?? ''
  const open = ledger.messages.get(currentId(ledger.messages, ledger.closedMessages, id))
  const received = part.completed + (open?.text ?? '')
  // A part without a time was never streamed; one with an end is complete.
  const ended = native.time === undefined || fields(native, 'time').end !== undefined
  // Emits the text that deltas missed, so that the deltas equal the complete text.
  const streamed = !ended || received !== '' || part.isGapped
  if (streamed && whole.length > received.length && whole.startsWith(received)) {
    emitted.push(addDelta(ledger, kind, id, whole.slice(received.length), thread.speaker))
  }
  if (!ended) return emitted
  part.done = true
  // Those of a part with a gap are in its whole text.
  releaseDeltas(state, id)
  if (whole === '' && received === '') return emitted
  const final = isTrimmed(received, whole) ? received : whole
  if (kind === 'text' && whole !== '') thread.answer = final
  const rest = final.startsWith(part.completed) ? final.slice(part.completed.length) : final
  // All of it was completed before a later call.
  if (rest === '' && part.completed !== '' && !open) return emitted
  const partial = thread.failure !== undefined
  emitted.push(completeMessage(ledger, kind, id, rest, { parent: thread.speaker, partial }))
  return emitted
}

/** OpenCode trims trailing white space from a text; a client that has it has the complete text anyway. */
function isTrimmed(received: string, whole: string): boolean {
  return (
    received.length > whole.length && received.startsWith(whole) && received.trimEnd().length <= whole.length
  )
}

/** A delta. Its `field` is "text" for reasoning too, so only the type of the part is reliable. */
export function decodeDelta(state: ServeState, properties: Fields, raw: string): Decoded {
  const id = text(properties, 'partID') ?? ''
  const part = state.turn.parts.get(id)
  const piece = text(properties, 'delta')
  if (part) {
    if (part.done || piece === '') return skipped
    if (part.isGapped && piece !== undefined) {
      hold(state.heldDeltas, id, { messageId: text(properties, 'messageID') ?? '', properties, raw })
      return skipped
    }
    if (piece === undefined || (part.kind !== 'text' && part.kind !== 'thinking')) {
      return unmapped('message.part.delta', raw)
    }
    return emit(addDelta(state.ledger, part.kind, id, piece, part.speaker))
  }
  const messageId = text(properties, 'messageID') ?? ''
  const message = state.messages.get(messageId)
  const ours = state.threads.has(text(properties, 'sessionID') ?? '') || (!state.root && !state.driven)
  if (!ours || (message && message.turn !== state.turn.number)) return skipped
  hold(state.heldDeltas, id, { messageId, properties, raw })
  return skipped
}

/** The usage of one model call. That of a child also counts for the turn, so that a budget applies immediately. */
function stepFinish(state: ServeState, thread: SessionThread, native: Fields, id: string): Emitted[] {
  partOf(state, thread, id, 'other').done = true
  const usage = stepUsage(native)
  thread.usage = addUsage(thread.usage, usage)
  thread.stepSeen = true
  thread.reason = text(native, 'reason')
  state.turn.used = addUsage(state.turn.used ?? {}, usage)
  return [thread === state.root ? usage : { ...usage, scope: 'subagent', subagentId: thread.id }]
}
