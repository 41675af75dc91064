import type { SubagentStarted } from '../../../model/events/work.ts'
import type { ErrorInfo, Policy, Sandbox, Usage } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import type { Fields } from '../../fields.ts'
import { type Ledger, newLedger } from '../../ledger.ts'
import type { Declined } from '../refusals.ts'

/** A prompt that waits for its thread to open. */
export interface Held {
  text: string
  images: readonly { mimeType: string; data: string }[]
}

/** A request of the agent that blocks it until it is answered under its id. */
export interface Ask {
  nativeId: unknown
  /** The form of the answer. */
  form: 'decision' | 'elicitation' | 'questions'
  toolId: string | undefined
  params: Fields
}

export type Announced = Omit<SubagentStarted, 'type' | 'background'>

/** The thread of a sub-agent. */
export interface Child {
  /** How the thread was announced; after its end, how it will be announced when it continues. */
  readonly announced: Announced
  /** The last turn that the thread started. */
  turn: string | undefined
  usage: Usage | undefined
  answer: string | undefined
}

/** The state of one turn. */
interface Turn {
  /** The agent's turn id, once known. */
  id: string | undefined
  /** The agent has started the turn; before that it can be neither steered nor interrupted. */
  begun: boolean
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

/** Settings that a turn changes for itself and for later turns. */
interface Changes {
  model?: string
  mode?: string
  policy?: Policy
}

export interface State {
  readonly start: Start
  readonly ledger: Ledger
  /** The reported session properties, so that a repeated handshake emits nothing. */
  readonly known: Map<string, string>
  /** The thread of the conversation; every other thread belongs to a sub-agent. */
  threadId: string | undefined
  /** The threads of sub-agents, kept after their end, because late frames for them are ignored. */
  readonly children: Map<string, Child>
  /** The last running total of each thread. */
  readonly totals: Map<string | undefined, number>
  turn: Turn | undefined
  /** Ended turns of any thread; late frames for them are ignored. */
  readonly ended: Set<string>
  held: Held | undefined
  /** The emitted text of this turn's messages that were cut off, in case one of them continues. */
  readonly cuts: Map<string, string>
  /** The current part of each raw thinking message. */
  readonly parts: Map<string, number>
  readonly asks: Map<string, Ask>
  /** Calls of the turn that had a request, answered or not. */
  readonly askedCalls: Set<string>
  /** How often the agent used an id for a request. */
  readonly askUses: Map<string, number>
  /** Our calls without a response, by id. */
  readonly calls: Map<unknown, { method: string; params: Fields }>
  callCount: number
  /** Our interrupts that are neither answered nor visibly effective, by call id. */
  readonly interrupts: Set<unknown>
  /** Set when we opened the connection; unset for a transcript. */
  opening: boolean
  /** Why the conversation could not be opened. */
  failure: ErrorInfo | undefined
  /** Settings for the next turn. */
  next: Changes
  /** The settings of the last turn, which were not applied if that turn is rejected. */
  sent: Changes
  /** The last requested sandbox. */
  sandbox: Sandbox
  /** Commands of an interrupted turn whose shells must still be terminated. */
  readonly abandoned: Set<string>
  /** The last reported account limits. */
  limits: string
  declined: Declined
}

export function initialState(start: Start): State {
  const { epoch, resume } = start
  return {
    start,
    ledger: newLedger(),
    // Every process of the session announces the same thread again.
    known: new Map(epoch > 1 && resume !== undefined ? [['nativeSessionId', resume]] : []),
    threadId: undefined,
    children: new Map(),
    totals: new Map(),
    turn: undefined,
    ended: new Set(),
    held: undefined,
    cuts: new Map(),
    parts: new Map(),
    asks: new Map(),
    askedCalls: new Set(),
    askUses: new Map(),
    calls: new Map(),
    callCount: 0,
    interrupts: new Set(),
    opening: false,
    failure: undefined,
    next: start.mode === undefined ? {} : { mode: start.mode },
    sent: {},
    sandbox: start.policy.sandbox,
    abandoned: new Set(),
    limits: '',
    declined: { reported: 0, ended: 0 },
  }
}

export function openTurn(state: State, structured = false): void {
  forgetRefusals(state)
  state.turn = {
    id: undefined,
    begun: false,
    prompted: false,
    answer: undefined,
    usage: undefined,
    diff: undefined,
    structured,
    interrupting: false,
  }
}

/** Denials of a background sub-agent between two turns count for neither. */
export function forgetRefusals(state: State): void {
  state.declined = { reported: 0, ended: 0 }
  state.ledger.denials = 0
  state.ledger.personDenials = 0
}
