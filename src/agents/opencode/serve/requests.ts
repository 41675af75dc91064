import type { RequestWithdrawn } from '../../../model/events/request.ts'
import {
  type AnswerCommand,
  type Decision,
  type DeniedBy,
  type Location,
  OUTSIDE_ID,
  type Question,
  type RequestOption,
  type ToolKind,
} from '../../../model/index.ts'
import type { Decoded } from '../../agent.ts'
import { emit, emitAll, nothing, unmapped } from '../../decoded.ts'
import { compact, type Fields, fields, flag, isFields, list, text, texts } from '../../fields.ts'
import { openRequest, withdrawRequest } from '../../requests.ts'
import { refuseTool } from '../../tools.ts'
import { kindOf } from '../tools.ts'
import { askedId } from './call-ids.ts'
import type { Ask, State } from './state.ts'
import { announce, threadOf } from './thread.ts'

const ONCE: RequestOption = { id: 'once', label: 'Allow once', effect: 'allow', scope: 'once', default: true }
const REJECT: RequestOption = { id: 'reject', label: 'Deny', effect: 'deny', scope: 'once' }

/** OpenCode calls it "always" but forgets it when the server exits. */
function alwaysOption(patterns: readonly string[]): RequestOption {
  return {
    id: 'always',
    label: `Allow ${patterns.join(', ')} from now on`,
    effect: 'allow',
    scope: 'session',
  }
}

/** May precede the start of its call. */
export function decodePermission(state: State, properties: Fields, raw: string): Decoded {
  const permission = text(properties, 'permission') ?? '?'
  const patterns = texts(properties, 'patterns') ?? []
  const always = texts(properties, 'always') ?? []
  const { metadata } = properties
  const path = text(fields(properties, 'metadata'), 'filepath')
  const command = text(fields(properties, 'metadata'), 'command')
  return ask(state, properties, raw, 'permission', {
    tool: permission,
    toolKind: kindOf(permission, []),
    ...(path !== undefined && { locations: [{ path }] }),
    title: command ?? (patterns.join(', ') || permission),
    input: { permission, patterns, always, ...(metadata !== undefined && { metadata }) },
    options: always.length === 0 ? [ONCE, REJECT] : [ONCE, alwaysOption(always), REJECT],
  })
}

export function decodeQuestion(state: State, properties: Fields, raw: string): Decoded {
  return ask(state, properties, raw, 'question', {
    tool: 'question',
    options: [{ ...REJECT, label: 'Dismiss' }],
    questions: list(properties, 'questions').filter(isFields).map(questionOf),
  })
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

interface Asked {
  tool: string
  toolKind?: ToolKind
  locations?: Location[]
  title?: string
  input?: unknown
  options: RequestOption[]
  questions?: Question[]
}

function ask(
  state: State,
  properties: Fields,
  raw: string,
  kind: 'permission' | 'question',
  asked: Asked,
): Decoded {
  const thread = threadOf(state, properties)
  if (!thread) return nothing
  const nativeId = text(properties, 'id') ?? ''
  // The id becomes part of a path in the answer.
  if (!OUTSIDE_ID.test(nativeId)) return unmapped(`${kind}.asked`, raw)
  const requestId = requestIdOf(state, nativeId)
  if (state.asked.has(requestId)) return nothing
  state.asked.add(requestId)
  const callId = text(fields(properties, 'tool'), 'callID')
  const toolId = callId === undefined ? undefined : askedId(state, thread, callId)
  state.asks.set(requestId, { nativeId, kind, toolId, questions: asked.questions?.length ?? 0 })
  const request = openRequest(state.ledger, {
    requestId,
    kind,
    blocking: true,
    ...asked,
    ...(toolId !== undefined && { toolId }),
    ...(thread.speaker !== undefined && { parent: thread.speaker }),
  })
  return emit(...announce(state, thread), request)
}

export function requestIdOf(state: State, nativeId: string): string {
  return `e${state.start.epoch}.${nativeId}`
}

/** The reply to a question has answers, that to a permission one of three values. */
export function decodeReply(state: State, properties: Fields): Decoded {
  const reply = text(properties, 'reply')
  if (reply === undefined) return loseAsk(state, properties, 'answered')
  return loseAsk(state, properties, reply === 'reject' ? 'deny' : 'allow')
}

/** A question that was dismissed. */
export function decodeRejected(state: State, properties: Fields): Decoded {
  return loseAsk(state, properties, 'deny')
}

/** Our answers close their requests, so another client decided this one, or it followed from our answer to another. */
function loseAsk(state: State, properties: Fields, decision: Decision): Decoded {
  const requestId = requestIdOf(state, text(properties, 'requestID') ?? '')
  const asked = state.asks.get(requestId)
  if (!asked) return nothing
  state.asks.delete(requestId)
  if (decision === 'deny') refuseAsked(state, asked, 'person')
  return emitAll(withdrawRequest(state.ledger, requestId, reasonOf(state, asked, decision), decision))
}

function reasonOf({ aborted }: State, { follows }: Ask, decision: Decision): RequestWithdrawn['reason'] {
  if (aborted && decision === 'deny') return 'interrupted'
  return follows === decision ? 'agent' : 'answered_elsewhere'
}

/** OpenCode applies a rejection, and a permanent approval, to the other open permissions. */
export function noteLasting(state: State, { decision, scope }: AnswerCommand): void {
  if (decision === 'allow' && scope === 'once') return
  for (const asked of state.asks.values()) if (asked.kind === 'permission') asked.follows = decision
}

/** A call that has ended was not denied: a later call with its id must not inherit the denial. */
export function refuseAsked({ ledger }: State, { toolId }: Ask, by: DeniedBy): void {
  if (toolId !== undefined && !ledger.closedTools.has(toolId)) refuseTool(ledger, toolId, by)
}
