import type { SubagentStarted } from '../../../model/events/work.ts'
import type { ErrorInfo, Policy, Sandbox, Usage } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import type { Fields } from '../../fields.ts'
import { type Ledger, newLedger } from '../../ledger.ts'
import type { Declined } from '../refusals.ts'

/** A prompt that waits for its thread to be open. */
export interface Held {
  text: string
  images: readonly { mimeType: string; data: string }[]
}

/** A question of the agent that blocks it until it is answered under its own id. */
export interface Ask {
  nativeId: unknown
  /** How it wants to be answered. */
  form: 'decision' | 'elicitation' | 'questions'
  toolId: string | undefined
  params: Fields
}

export type Announced = Omit<SubagentStarted, 'type' | 'background'>

/** A thread of a sub-agent. */
export interface Child {
  /** As it was announced, and after its end as it will be announced when it goes on. */
  readonly announced: Announced
  /** The last turn that it began. */
  turn: string | undefined
  usage: Usage | undefined
  answer: string | undefined
}

/** What belongs to one turn. */
interface Turn {
  /** The agent's id of it, once it is known. */
  id: string | undefined
  /** The agent has begun it; before that it can be neither steered nor interrupted. */
  begun: boolean
  /** The first message in the user's name is the prompt; later ones steer. */
  prompted: boolean
  answer: string | undefined
  usage: Usage | undefined
  diff: string | undefined
  /** The answer is asked for as JSON. */
  structured: boolean
  /** An interrupt was asked for before the agent had begun. */
  interrupting: boolean
}

/** What a turn changes for itself and for those after it. */
interface Changes {
  model?: string
  mode?: string
  policy?: Policy
}

export interface State {
  readonly start: Start
  readonly ledger: Ledger
  /** What the session is known to be, so that a repeated handshake says nothing. */
  readonly known: Map<string, string>
  /** The thread of the conversation; every other one is a sub-agent's. */
  threadId: string | undefined
  /** Those of sub-agents, also after their end: what comes late for them changes nothing. */
  readonly children: Map<string, Child>
  /** The last running total of each thread. */
  readonly totals: Map<string | undefined, number>
  turn: Turn | undefined
  /** Turns that have ended, of any thread: what comes late for them changes nothing. */
  readonly ended: Set<string>
  held: Held | undefined
  /** What was said of messages of this turn that were cut, should one of them go on after all. */
  readonly cuts: Map<string, string>
  /** Which of its parts a message of raw thoughts has come to. */
  readonly parts: Map<string, number>
  readonly asks: Map<string, Ask>
  /** Calls of the turn that were asked about, answered or not. */
  readonly askedCalls: Set<string>
  /** How often the agent used an id for a question. */
  readonly askUses: Map<string, number>
  /** Our calls that are not answered yet, by id. */
  readonly calls: Map<unknown, { method: string; params: Fields }>
  callCount: number
  /** Our interrupts that are neither answered nor seen to have taken effect, by id of the call. */
  readonly interrupts: Set<unknown>
  /** True once we opened the connection, and not a transcript. */
  opening: boolean
  /** The conversation could not be opened, and why. */
  failure: ErrorInfo | undefined
  /** To be sent with the next turn. */
  next: Changes
  /** What went with the last one: it was never said if that is refused. */
  sent: Changes
  /** The sandbox that was asked for last. */
  sandbox: Sandbox
  /** Commands of an interrupted turn whose shells are still to be ended. */
  readonly abandoned: Set<string>
  /** What was last said of the account's limits. */
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
    declined: { told: 0, ended: 0 },
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

/** What a sub-agent in the background was refused between two turns counts for neither. */
export function forgetRefusals(state: State): void {
  state.declined = { told: 0, ended: 0 }
  state.ledger.denials = 0
  state.ledger.personDenials = 0
}
