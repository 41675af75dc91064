import {
  type AnswerCommand,
  type Decision,
  OUTSIDE_ID,
  type Question,
  type RequestOption,
} from '../../../model/index.ts'
import type { Decoded, Emitted } from '../../agent.ts'
import { emitAll, held, nothing, skipped, unmapped } from '../../kit/decoded.ts'
import {
  compact,
  type Fields,
  fields,
  flag,
  isFields,
  list,
  sameValue,
  text,
  texts,
} from '../../kit/fields.ts'
import type { LedgerTool } from '../../kit/ledger.ts'
import { askOf, requestIdOf, withdrawRequest } from '../../kit/requests.ts'
import { ONCE, openAsk, REJECT, type RequestParts, refuseAsked, withdrawalOf } from '../asks.ts'
import { isPermissionOf } from '../permission.ts'
import { type SessionThread, threadOf } from '../threads.ts'
import { kindOf } from '../tools.ts'
import { askedId, runningId } from './call-ids.ts'
import type { HeldAsk, ServeAsk, ServeState } from './state.ts'

/** OpenCode calls it "always" but forgets it when the server exits. */
function alwaysOption(patterns: readonly string[]): RequestOption {
  return {
    id: 'always',
    label: `Allow ${patterns.join(', ')} from now on`,
    effect: 'allow',
    scope: 'session',
  }
}

export function decodePermission(state: ServeState, properties: Fields, raw: string): Decoded {
  return hear(state, 'permission', properties, raw)
}

export function decodeQuestion(state: ServeState, properties: Fields, raw: string): Decoded {
  return hear(state, 'question', properties, raw)
}

/** A request may precede the start of its call, which has the input: the request waits for it. */
function hear(state: ServeState, kind: ServeAsk['kind'], properties: Fields, raw: string): Decoded {
  const thread = threadOf(state, properties)
  if (!thread) return skipped
  const nativeId = text(properties, 'id') ?? ''
  // The id becomes part of a path in the answer.
  if (!OUTSIDE_ID.test(nativeId)) return unmapped(`${kind}.asked`, raw)
  const requestId = requestIdOf(state.start, nativeId)
  if (sameValue(askOf(state.ledger, requestId)?.properties, properties)) return skipped
  const subject = JSON.stringify(properties)
  const isPending = state.ledger.requests.has(requestId) || state.turn.heldAsks.has(nativeId)
  // A request that was answered may be reported again.
  if (!isPending && state.asked.get(requestId) === subject) return skipped
  remember(state, requestId, subject)
  const callId = text(fields(properties, 'tool'), 'callID')
  if (callId === undefined) return emitAll(open(state, kind, thread, properties))
  if (runningId(state, thread, callId) !== undefined) return emitAll(open(state, kind, thread, properties))
  state.turn.heldAsks.set(nativeId, { kind, thread, callId, properties })
  return held(withdrawRequest(state.ledger, requestId, 'replaced'))
}

/** So many requests are recognized when they are reported again; an earlier one would be asked again. */
const REMEMBERED = 100

/** Whole, because a request that differs in its details only is another one. */
function remember({ asked }: ServeState, requestId: string, subject: string): void {
  asked.delete(requestId)
  asked.set(requestId, subject)
  const [oldest] = asked.keys()
  if (asked.size > REMEMBERED && oldest !== undefined) asked.delete(oldest)
}

/** Opens the requests that waited for this call. */
export function openHeld(state: ServeState, thread: SessionThread, callId: string): Emitted[] {
  return releaseAsks(state, (held) => held.thread === thread && held.callId === callId)
}

/**
 * Opens the requests whose call did not start before the next heartbeat, or before the turn ended, as OpenCode describes
 * them: a request that is never shown would wait forever.
 */
export function openAllHeld(state: ServeState): Emitted[] {
  return releaseAsks(state, () => true)
}

function releaseAsks(state: ServeState, isDue: (held: HeldAsk, nativeId: string) => boolean): Emitted[] {
  const emitted: Emitted[] = []
  for (const [nativeId, held] of state.turn.heldAsks) {
    if (!isDue(held, nativeId)) continue
    state.turn.heldAsks.delete(nativeId)
    emitted.push(...open(state, held.kind, held.thread, held.properties))
  }
  return emitted
}

function open(
  state: ServeState,
  kind: ServeAsk['kind'],
  thread: SessionThread,
  properties: Fields,
): Emitted[] {
  const nativeId = text(properties, 'id') ?? ''
  const callId = text(fields(properties, 'tool'), 'callID')
  const toolId = callId === undefined ? undefined : askedId(state, thread, callId)
  const call = toolId === undefined ? undefined : state.ledger.tools.get(toolId)
  const asked = kind === 'question' ? questionIn(properties) : permissionIn(properties, call)
  const ask: ServeAsk = { nativeId, kind, toolId, properties, questions: asked.questions?.length ?? 0 }
  return openAsk(state, thread, ask, asked)
}

function permissionIn(properties: Fields, call: LedgerTool | undefined): RequestParts {
  const permission = text(properties, 'permission') ?? '?'
  const patterns = texts(properties, 'patterns') ?? []
  const always = texts(properties, 'always') ?? []
  const { metadata } = properties
  const path = text(fields(properties, 'metadata'), 'filepath')
  const command = text(fields(properties, 'metadata'), 'command')
  const subject = command ?? (patterns.join(', ') || permission)
  const isOwn = !call || isPermissionOf(permission, call.name)
  return {
    tool: permission,
    toolKind: kindOf(permission, []),
    ...(!isOwn && { toolKind: call.kind, permission }),
    ...(path !== undefined && { locations: [{ path }] }),
    title: isOwn ? subject : `${permission}: ${subject}`,
    data: { permission, patterns, always, ...(metadata !== undefined && { metadata }) },
    options: always.length === 0 ? [ONCE, REJECT] : [ONCE, alwaysOption(always), REJECT],
  }
}

function questionIn(properties: Fields): RequestParts {
  return {
    tool: 'question',
    options: [{ ...REJECT, label: 'Dismiss' }],
    questions: list(properties, 'questions').filter(isFields).map(questionOf),
  }
}

/** Answers are positional, so the position is the id. */
function questionOf(native: Fields, index: number): Question {
  return {
    id: String(index),
    ...compact({ header: text(native, 'header') }),
    text: text(native, 'question') ?? '',
    options: list(native, 'options')
      .filter(isFields)
      .map((option) => ({
        label: text(option, 'label') ?? '',
        ...compact({ description: text(option, 'description') }),
      })),
    ...(flag(native, 'multiple') && { multiple: true }),
    other: native.custom !== false,
  }
}

/** The reply to a question has answers, that to a permission one of three values. */
export function decodeReply(state: ServeState, properties: Fields): Decoded {
  const reply = text(properties, 'reply')
  if (reply === undefined) return loseAsk(state, properties, 'answered')
  return loseAsk(state, properties, reply === 'reject' ? 'deny' : 'allow')
}

/** A question that was dismissed. */
export function decodeRejected(state: ServeState, properties: Fields): Decoded {
  return loseAsk(state, properties, 'deny')
}

/** Our answers close their requests, so another client decided this one, or it followed from our answer to another. */
function loseAsk(state: ServeState, properties: Fields, decision: Decision): Decoded {
  const nativeId = text(properties, 'requestID') ?? ''
  const requestId = requestIdOf(state.start, nativeId)
  const opened = releaseAsks(state, (_, held) => held === nativeId)
  const asked = askOf(state.ledger, requestId)
  if (!asked) return nothing
  if (decision === 'deny') refuseAsked(state, asked, 'person')
  const reason = withdrawalOf(asked, decision, state.turn.aborted)
  return emitAll([...opened, ...withdrawRequest(state.ledger, requestId, reason, decision)])
}

/** OpenCode applies a rejection, and a permanent approval, to the other open permissions. */
export function noteLasting(state: ServeState, { decision, scope }: AnswerCommand): void {
  if (decision === 'allow' && scope === 'once') return
  for (const { ask } of state.ledger.requests.values()) if (ask.kind === 'permission') ask.follows = decision
}
