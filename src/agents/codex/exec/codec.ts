import { decide, isZeroUsage, subtractUsage, type Usage } from '../../../model/index.ts'
import type { Codec, Decoded, Emitted, Exit, Start, TurnVerdict } from '../../agent.ts'
import { emit, emitAll, malformed, nothing, skipped, unmapped } from '../../kit/decoded.ts'
import { type Fields, fields, isFields, text } from '../../kit/fields.ts'
import { completeMessage } from '../../kit/messages.ts'
import { encodeOneshot } from '../../kit/oneshot.ts'
import { type FrameRule, ruleTable } from '../../kit/rules.ts'
import { settle } from '../../kit/settle.ts'
import { answerOf } from '../answer.ts'
import type { ItemPhase } from '../calls.ts'
import { codeOfText, retryOf, silence } from '../errors.ts'
import { denialsOf, refusalIn } from '../refusals.ts'
import { usageOf } from '../usage.ts'
import { decodeFlatItem } from './flat-items.ts'
import { decodeItem } from './items.ts'
import { type ExecState, generateId, initialState, knownId } from './state.ts'

const ruleOf = ruleTable<FrameRule<ExecState>>({
  'thread.started'(state, native) {
    const threadId = text(native, 'thread_id')
    if (threadId === undefined || threadId === state.threadId) return nothing
    state.threadId = threadId
    const { epoch, resume } = state.start
    // Every process of the session announces the same thread again.
    if (epoch > 1 && threadId === resume) return nothing
    return emit({ type: 'session.updated', nativeSessionId: threadId })
  },

  // The session opened the turn with the process.
  'turn.started': () => nothing,

  'item.started': (state, native, raw) => decodeLife(state, 'started', native, raw),
  'item.updated': (state, native, raw) => decodeLife(state, 'updated', native, raw),
  'item.completed': (state, native, raw) => decodeLife(state, 'completed', native, raw),

  'turn.completed'(state, native) {
    const total = usageOf(fields(native, 'usage'), 'exec')
    const usage = total && turnUsage(state.start, total)
    state.result = { evidence: 'success', ...(usage && { usage }) }
    return nothing
  },

  'turn.failed'(state, native) {
    const message = text(fields(native, 'error'), 'message') ?? 'the turn failed'
    state.result = { evidence: 'error', error: { code: codeOfText(message), message } }
    return nothing
  },

  // Ends the turn only if nothing follows: otherwise Codex continues, or reports that the turn has failed.
  error(state, native) {
    const message = text(native, 'message') ?? ''
    const retry = retryOf(message)
    if (retry) return emit(retry)
    state.failure = { code: codeOfText(message), message }
    return emit({ type: 'notice.raised', level: 'error', code: 'agent_error', message })
  },
})

/** `codex exec --json`: complete items, no deltas, no requests; the process is the turn. */
export const execCodec: Codec<ExecState> = {
  initial: (start: Start) => initialState(start),

  decode(state, frame) {
    if (frame.stream === 'stderr') return decodeStderr(state, frame.text)
    const native = frame.value
    if (!isFields(native)) return malformed(frame.text)
    const rule = ruleOf(native.type)
    if (rule) return rule(state, native, frame.text)
    return decodeLoneResult(state, native) ?? unmapped(text(native, 'type') ?? '?', frame.text)
  },

  encode: (state, command) => encodeOneshot('codex', state.start, command),

  ready: ({ threadId, result }) => threadId !== undefined || result !== undefined,

  finished: ({ result }) => result !== undefined,

  end(state, exit) {
    const verdict = verdictOf(state, exit)
    const emitted = settle(state.ledger, decide(verdict, exit.cause, exit.code))
    // No work outlives the process, not even a sub-agent that was started and not awaited.
    emitted.push(...settle(state.ledger, 'interrupted', true))
    const { personDenials } = state.ledger
    const { usage } = verdict
    if (usage) emitted.push({ type: 'usage.reported', scope: 'turn', ...usage, source: 'agent' })
    return emitAll([...emitted, { ...verdict, denials: denialsOf(state), personDenials }])
  },
}

function decodeLife(state: ExecState, phase: ItemPhase, native: Fields, raw: string): Decoded {
  const { item } = native
  state.failure = undefined
  if (!isFields(item)) {
    const emitted = decodeFlatItem(state, phase, native)
    return emitted ? emitAll(emitted) : unmapped(`item/${text(native, 'item_type') ?? '?'}`, raw)
  }
  const { id } = item
  const emitted = decodeItem(
    state,
    phase,
    typeof id === 'string' ? knownId(state, id) : generateId(state),
    item,
  )
  // Only a list of steps that repeats the one before has no event.
  if (emitted?.length === 0 && item.type === 'todo_list') return skipped
  return emitted ? emitAll(emitted) : unmapped(`item/${text(item, 'type') ?? '?'}`, raw)
}

/**
 * The documented format of a whole turn in one object: it has a `text`, and no type but `result`. Before a thread is
 * announced any type counts, because real Codex announces its thread first.
 */
function decodeLoneResult(state: ExecState, native: Fields): Decoded | undefined {
  const answer = text(native, 'text')
  const isResult = native.type === undefined || native.type === 'result' || state.threadId === undefined
  if (answer === undefined || !isResult) return undefined
  const usage = usageOf(fields(native, 'usage'), 'exec')
  state.answer = answer
  state.result = { evidence: 'success', ...(usage && { usage }) }
  return emit(completeMessage(state.ledger, 'text', generateId(state), answer))
}

/**
 * Codex counts over the whole thread, so the usage of earlier turns is subtracted; unknown earlier usage makes the
 * result unknown.
 */
function turnUsage({ resume, usageSoFar = {} }: Start, total: Usage): Usage | undefined {
  if (resume !== undefined && isZeroUsage(usageSoFar)) return undefined
  return subtractUsage(total, usageSoFar)
}

function decodeStderr(state: ExecState, line: string): Decoded {
  const refusal = refusalIn(line)
  if (refusal?.code === 'tool_refused') state.declined.reported++
  const emitted: Emitted = { type: 'output.written', stream: 'stderr', line }
  return refusal ? emit(emitted, refusal) : emit(emitted)
}

function verdictOf(state: ExecState, exit: Exit): TurnVerdict {
  const base = { type: 'turn.verdict' as const, denials: denialsOf(state), personDenials: 0 }
  if (!state.result) {
    const { failure } = state
    return { ...base, ...(failure ? { evidence: 'error', error: failure } : silence(state, exit)) }
  }
  const { evidence, error } = state.result
  const usage = state.result.usage && {
    ...state.result.usage,
    ...(state.delegated && { partial: true as const }),
  }
  const answer = evidence === 'success' ? state.answer : undefined
  return {
    ...base,
    evidence,
    ...(error && { error }),
    ...answerOf(answer, state.start.options.outputSchema !== undefined),
    ...(usage && { usage }),
  }
}
