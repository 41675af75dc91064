import type { LimitReported } from '../../model/events/report.ts'
import type { PlanItem } from '../../model/events/work.ts'
import type { ErrorInfo } from '../../model/index.ts'
import type { Emitted, Start } from '../agent.ts'
import type { Fields } from '../fields.ts'
import { type Ledger, newLedger } from '../ledger.ts'
import { addDelta, closeMessage } from '../messages.ts'
import type { Change } from './tools.ts'

export interface State {
  readonly start: Start
  readonly ledger: Ledger
  /** What the handshake said. */
  nativeSessionId: string | undefined
  model: string | undefined
  /** The message that is being written, and what it is; Gemini never says where one ends. */
  openMessage: string | undefined
  openKind: 'text' | 'thinking'
  messages: number
  calls: number
  /** The last whole text is the answer: the result does not repeat it. */
  answer: string | undefined
  /** Lists that hold as soon as the call that carries them has succeeded. */
  readonly plans: Map<string, PlanItem[]>
  /** What calls do to a file, if they succeed: the result says no more than that. */
  readonly changes: Map<string, Change>
  /** The files of open calls, and the files that calls of this process have read or written. */
  readonly paths: Map<string, string>
  readonly files: Set<string>
  /** Further calls under an id that is still open, oldest first. */
  readonly twins: Map<string, string[]>
  /** The open call of the documented shape, which has no result. */
  documentedCall: string | undefined
  /** The model has spoken since the last result of a tool. */
  spoke: boolean
  result: Fields | undefined
  /** The last error that was told before the result. */
  lastError: string | undefined
  failure: ErrorInfo | undefined
  /** A retry whose delay is told on the next line. */
  retry: LimitReported | undefined
}

export function initialState(start: Start): State {
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
    spoke: false,
    result: undefined,
    lastError: undefined,
    failure: undefined,
    retry: undefined,
  }
}

/** Words of the message that is being written; those of another kind begin another one. */
export function addWords(state: State, kind: 'text' | 'thinking', words: string): Emitted[] {
  const emitted = kind === state.openKind ? [] : closeWords(state)
  state.openKind = kind
  state.openMessage ??= `e${state.start.epoch}.m${++state.messages}`
  emitted.push(addDelta(state.ledger, kind, state.openMessage, words))
  return emitted
}

export function closeWords(state: State, partial = false): Emitted[] {
  if (state.openMessage === undefined) return []
  const emitted = closeMessage(state.ledger, state.openMessage, partial)
  state.openMessage = undefined
  for (const one of emitted) if (one.type === 'text.completed') state.answer = one.text
  return emitted
}
