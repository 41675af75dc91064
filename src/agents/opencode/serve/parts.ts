import { addUsage } from '../../../model/index.ts'
import type { Decoded, Emitted } from '../../agent.ts'
import { emit, emitAll, nothing, unmapped } from '../../decoded.ts'
import { type Fields, fields, text } from '../../fields.ts'
import { currentId } from '../../ledger.ts'
import { addDelta, completeMessage } from '../../messages.ts'
import { ruleTable } from '../../rules.ts'
import { stepUsage } from '../usage.ts'
import { decodeCall } from './calls.ts'
import { hold, releaseDeltas } from './held.ts'
import { partOf, type State } from './state.ts'
import { announce, type Thread } from './thread.ts'

type Rule = (state: State, thread: Thread, part: Fields, id: string) => Emitted[]

const ruleOf = ruleTable<Rule>({
  text: (state, thread, part, id) => words(state, thread, part, id, 'text'),
  reasoning: (state, thread, part, id) => words(state, thread, part, id, 'thinking'),
  tool: decodeCall,
  'step-finish': stepFinish,
  // The model is called; what it used is told when it ends.
  'step-start': () => [],
  // Marks in its own history of files.
  snapshot: () => [],
  patch: () => [],
  // The status of the session tells the same.
  retry: () => [],
  compaction: () => [],
})

/** A part of an answer, as it is now. */
export function decodePart(state: State, thread: Thread, part: Fields, raw: string): Decoded {
  const type = text(part, 'type') ?? '?'
  const id = text(part, 'id')
  const rule = ruleOf(type)
  if (!rule || id === undefined) return unmapped(`message.part.updated/${type}`, raw)
  if (state.parts.get(id)?.done) return nothing
  return emitAll([...announce(state, thread), ...rule(state, thread, part, id)])
}

export function isWords({ type }: Fields): boolean {
  return type === 'text' || type === 'reasoning'
}

/** Words that are for its model alone, as the summary of what it compacted. */
export function withhold(state: State, thread: Thread, part: Fields): Decoded {
  const id = text(part, 'id') ?? ''
  partOf(state, thread, id, 'other').done = true
  releaseDeltas(state, id)
  return nothing
}

function words(
  state: State,
  thread: Thread,
  native: Fields,
  id: string,
  kind: 'text' | 'thinking',
): Emitted[] {
  const part = partOf(state, thread, id, kind)
  if (part.kind !== kind) return []
  const { ledger } = state
  const emitted: Emitted[] = []
  for (const { properties } of releaseDeltas(state, id)) {
    emitted.push(addDelta(ledger, kind, id, text(properties, 'delta') ?? '', thread.speaker))
  }
  const whole = text(native, 'text') ?? ''
  const open = ledger.messages.get(currentId(ledger.messages, ledger.closedMessages, id))
  const heard = part.completed + (open?.text ?? '')
  // A part without a time was never streamed; one that has ended is whole.
  const ended = native.time === undefined || fields(native, 'time').end !== undefined
  // What a delta should have said and did not is made up for, so that deltas and the whole agree.
  const streamed = !ended || heard !== ''
  if (streamed && whole.length > heard.length && whole.startsWith(heard)) {
    emitted.push(addDelta(ledger, kind, id, whole.slice(heard.length), thread.speaker))
  }
  if (!ended) return emitted
  part.done = true
  if (whole === '' && heard === '') return emitted
  const final = isTrimmed(heard, whole) ? heard : whole
  if (kind === 'text' && whole !== '') thread.answer = final
  const rest = final.startsWith(part.completed) ? final.slice(part.completed.length) : final
  // All of it was completed before a call that followed it.
  if (rest === '' && part.completed !== '' && !open) return emitted
  const partial = thread.failure !== undefined
  emitted.push(completeMessage(ledger, kind, id, rest, { parent: thread.speaker, partial }))
  return emitted
}

/** It cuts off the white space that a text ends with; who was shown that has the whole text all the same. */
function isTrimmed(heard: string, whole: string): boolean {
  return heard.length > whole.length && heard.startsWith(whole) && heard.trimEnd().length <= whole.length
}

/** An increment. Its `field` is "text" for reasoning too, so only the part's own type tells what it is. */
export function decodeDelta(state: State, properties: Fields, raw: string): Decoded {
  const id = text(properties, 'partID') ?? ''
  const part = state.parts.get(id)
  const piece = text(properties, 'delta')
  if (part) {
    if (part.done || piece === '') return nothing
    if (piece === undefined || (part.kind !== 'text' && part.kind !== 'thinking')) {
      return unmapped('message.part.delta', raw)
    }
    return emit(addDelta(state.ledger, part.kind, id, piece, part.speaker))
  }
  const messageId = text(properties, 'messageID') ?? ''
  const message = state.messages.get(messageId)
  const ours = state.threads.has(text(properties, 'sessionID') ?? '') || (!state.root && !state.driven)
  if (!ours || (message && message.turn !== state.turn)) return nothing
  hold(state.heldDeltas, id, { messageId, properties, raw })
  return nothing
}

/** Figures of one model call. Those of a child count for the turn too, so that a limit of cost sees them at once. */
function stepFinish(state: State, thread: Thread, native: Fields, id: string): Emitted[] {
  partOf(state, thread, id, 'other').done = true
  const usage = stepUsage(native)
  thread.usage = addUsage(thread.usage, usage)
  thread.stepSeen = true
  thread.reason = text(native, 'reason')
  state.used = addUsage(state.used ?? {}, usage)
  return [thread === state.root ? usage : { ...usage, scope: 'subagent', subagentId: thread.id }]
}
