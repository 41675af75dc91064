import type { LimitReported } from '../../../model/events/report.ts'
import type { SubagentStarted } from '../../../model/events/work.ts'
import type { ErrorInfo, Policy, Sandbox, Usage } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import { Calls } from '../../kit/calls.ts'
import type { Fields } from '../../kit/fields.ts'
import type { KnownFacts } from '../../kit/known.ts'
import { type Ledger, newLedger, resetDenials } from '../../kit/ledger.ts'
import type { Declined } from '../refusals.ts'

/** A prompt that waits for its thread to open. */
export interface HeldPrompt {
  text: string
  images: readonly { mimeType: string; data: string }[]
}

/** A request of the agent that blocks it until it is answered under its id. */
export interface CodexAsk {
  nativeId: unknown
  /** The form of the answer. */
  form: 'decision' | 'elicitation' | 'questions'
  toolId: string | undefined
  params: Fields
}

export type Announced = Omit<SubagentStarted, 'type' | 'background'>

/** The thread of a sub-agent. */
export interface ChildThread {
  /** How the thread was announced; after its end, how it will be announced when it continues. */
  readonly announced: Announced
  /** The last turn that the thread started. */
  turn: string | undefined
  usage: Usage | undefined
  answer: string | undefined
}

/** The state of one turn. */
interface CodexTurn {
  /** The agent's turn id, once known. */
  id: string | undefined
  /** The agent has started the turn; before that it can be neither steered nor interrupted. */
  begun: boolean
  /** Of a review: its start has another id than its items and its end. */
  reviews: boolean
  /** The first user message is the prompt; later ones are steering prompts. */
  prompted: boolean
  answer: string | undefined
  usage: Usage | undefined
  diff: string | undefined
  /** Structured output was requested. */
  structured: boolean
  /** An interrupt was requested before the agent started the turn. */
  interrupting: boolean
}

/** The time from the end of one turn to the end of the next. */
interface TurnSpan {
  held: HeldPrompt | undefined
  /** The emitted text of messages that were cut off, in case one of them continues. */
  readonly cuts: Map<string, string>
  /** Calls that had a request, answered or not. */
  readonly askedCalls: Set<string>
}

function newSpan(): TurnSpan {
  return { held: undefined, cuts: new Map(), askedCalls: new Set() }
}

/** Settings that a turn changes for itself and for later turns. */
interface TurnSettings {
  model?: string
  mode?: string
  policy?: Policy
}

export interface AppServerState {
  readonly start: Start
  readonly ledger: Ledger<CodexAsk>
  /** The reported session properties, so that a repeated handshake emits nothing. */
  known: KnownFacts
  /** The thread of the conversation; every other thread belongs to a sub-agent. */
  threadId: string | undefined
  /** The threads of sub-agents, kept after their end, because late frames for them are ignored. */
  readonly children: Map<string, ChildThread>
  /** The last running total of each thread. */
  readonly totals: Map<string | undefined, number>
  turn: CodexTurn | undefined
  /** Ended turns of any thread; late frames for them are ignored. */
  readonly ended: Set<string>
  span: TurnSpan
  /** The current part of each raw thinking message. */
  readonly parts: Map<string, number>
  readonly calls: Calls<{ method: string; params: Fields }>
  /** Set when we opened the connection; unset for a transcript. */
  opening: boolean
  /** Why the conversation could not be opened. */
  failure: ErrorInfo | undefined
  /** Settings for the next turn. */
  next: TurnSettings
  /** The settings of the last turn, which were not applied if that turn is rejected. */
  sent: TurnSettings
  /** The thread has the effort of the options. */
  isEffortSent: boolean
  /** The last requested sandbox. */
  sandbox: Sandbox
  /** Commands of an interrupted turn whose shells must still be terminated. */
  readonly abandoned: Set<string>
  /** The status of the conversation's goal, if it has one. */
  goal: string | undefined
  /** Codex works on a goal: it starts turns by itself. */
  pursues: boolean
  /** The last reported account limits. */
  limits: readonly LimitReported[]
  declined: Declined
}

export function initialState(start: Start): AppServerState {
  const { epoch, resume } = start
  return {
    start,
    ledger: newLedger(),
    // Every process of the session announces the same thread again.
    known: epoch > 1 && resume !== undefined ? { nativeSessionId: resume } : {},
    threadId: undefined,
    children: new Map(),
    totals: new Map(),
    turn: undefined,
    ended: new Set(),
    span: newSpan(),
    parts: new Map(),
    calls: new Calls(),
    opening: false,
    failure: undefined,
    next: start.mode === undefined ? {} : { mode: start.mode },
    sent: {},
    sandbox: start.policy.sandbox,
    abandoned: new Set(),
    goal: undefined,
    pursues: false,
    isEffortSent: false,
    limits: [],
    declined: { reported: 0, ended: 0 },
  }
}

export function openTurn(state: AppServerState, structured = false): void {
  forgetRefusals(state)
  // The record of a session forgets a used-up limit when a turn completes, so the next turn reports it again.
  if (state.limits.some(({ kind }) => kind === 'quota')) state.limits = []
  state.turn = {
    id: undefined,
    begun: false,
    reviews: false,
    prompted: false,
    answer: undefined,
    usage: undefined,
    diff: undefined,
    structured,
    interrupting: false,
  }
}

/** Denials of a background sub-agent between two turns count for neither. */
function forgetRefusals(state: AppServerState): void {
  state.declined = { reported: 0, ended: 0 }
  resetDenials(state.ledger)
}

/** Replaces the ended turn. */
export function closeTurn(state: AppServerState): void {
  if (state.turn?.id !== undefined) state.ended.add(state.turn.id)
  state.turn = undefined
  state.span = newSpan()
  forgetRefusals(state)
  for (const id of state.parts.keys()) if (!state.ledger.messages.has(id)) state.parts.delete(id)
}
