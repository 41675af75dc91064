import type { LimitReported } from '../../model/events/report.ts'
import type { PlanItem } from '../../model/events/work.ts'
import type { ErrorInfo } from '../../model/index.ts'
import type { Emitted, Start } from '../agent.ts'
import type { Fields } from '../kit/fields.ts'
import { type Ledger, newLedger } from '../kit/ledger.ts'
import { addDelta, closeMessage } from '../kit/messages.ts'
import type { WrittenFile } from './tools.ts'

export interface GeminiState {
  readonly start: Start
  readonly ledger: Ledger
  /** The properties from the handshake. */
  nativeSessionId: string | undefined
  model: string | undefined
  /** The open message and its kind; Gemini never reports its end. */
  openMessage: string | undefined
  openKind: 'text' | 'thinking'
  messages: number
  calls: number
  /** The last complete text is the answer: the result does not repeat it. */
  answer: string | undefined
  /** Plans that take effect when the call that carries them succeeds. */
  readonly plans: Map<string, PlanItem[]>
  /** File changes that take effect when their calls succeed: the result does not describe them. */
  readonly changes: Map<string, WrittenFile>
  /** The files of open calls, and the files that calls of this process have read or written. */
  readonly paths: Map<string, string>
  readonly files: Set<string>
  /** Further calls under an id that is still open, oldest first. */
  readonly twins: Map<string, string[]>
  /** The open call of the documented format, which has no result. */
  documentedCall: string | undefined
  /** The agent wrote lines of the documented format, which has no result: exit code 0 ends it successfully. */
  isDocumented: boolean
  /** The model has produced output since the last tool result. */
  hasOutput: boolean
  result: Fields | undefined
  /** The last error before the result. */
  lastError: string | undefined
  failure: ErrorInfo | undefined
  /** A retry whose delay is on the next line. */
  retry: LimitReported | undefined
}

export function initialState(start: Start): GeminiState {
  return {
    start,
    ledger: newLedger(),
    nativeSessionId: undefined,
    model: undefined,
    openMessage: undefined,
    openKind: 'text',
    messages: 0,
    calls: 0,
    answer: undefined,
    plans: new Map(),
    changes: new Map(),
    paths: new Map(),
    files: new Set(),
    twins: new Map(),
    documentedCall: undefined,
    isDocumented: false,
    hasOutput: false,
    result: undefined,
    lastError: undefined,
    failure: undefined,
    retry: undefined,
  }
}

/** Appends text to the open message; text of another kind starts a new one. */
export function addText(state: GeminiState, kind: 'text' | 'thinking', delta: string): Emitted[] {
  const emitted = kind === state.openKind ? [] : closeText(state)
  state.openKind = kind
  state.openMessage ??= `e${state.start.epoch}.m${++state.messages}`
  emitted.push(addDelta(state.ledger, kind, state.openMessage, delta))
  return emitted
}

export function closeText(state: GeminiState, partial = false): Emitted[] {
  if (state.openMessage === undefined) return []
  const emitted = closeMessage(state.ledger, state.openMessage, partial)
  state.openMessage = undefined
  for (const one of emitted) if (one.type === 'text.completed') state.answer = one.text
  return emitted
}
