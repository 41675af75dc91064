import type { ErrorInfo, Usage } from '../../model/index.ts'
import type { Start } from '../agent.ts'
import { Calls } from '../kit/calls.ts'
import type { Fields } from '../kit/fields.ts'
import type { KnownFacts } from '../kit/known.ts'
import { type Ledger, newLedger, resetDenials } from '../kit/ledger.ts'

/** A block of the message that is being written. */
export type PiBlock =
  | { type: 'text' | 'thinking'; messageId: string }
  | { type: 'call'; messageId: string; toolId: string; name: string; shown: boolean }

/** A command without a response; pi responds to each command. */
export interface PiCall {
  type: string
  /** The text of a prompt, and whether it opened the turn or joined one. */
  prompt?: { text: string; promptId: string | undefined; opens: boolean }
}

/** An open dialog of an extension. */
export interface Dialog {
  nativeId: string
  method: string
  /** The valid answers; empty allows any text. */
  labels: readonly string[]
  toolId: string | undefined
}

/** The state of one turn. The next turn gets a new one. */
interface PiTurn {
  open: boolean
  /** Pi reported that it will not continue by itself. */
  settled: boolean
  aborted: boolean
  interrupting: boolean
  /** Our prompt was not echoed yet. */
  awaitsEcho: boolean
  /** The blocks of the message that is being written, by index. */
  blocks: Map<number, PiBlock>
  /** The last complete message of the model: its end determines the result of the turn. */
  last: Fields | undefined
  /** The output of each call so far: progress frames contain all of it. */
  readonly outputs: Map<string, string>
  readonly inputs: Map<string, Fields>
  /** The usage of this turn's model calls. */
  used: Usage
  failure: ErrorInfo | undefined
}

export interface PiState {
  readonly start: Start
  readonly ledger: Ledger<Dialog>
  /** The reported session properties, so that nothing is emitted twice. */
  known: KnownFacts
  /** The tools of the model. */
  readonly tools: Set<string>
  turn: PiTurn
  /** A run started and has not settled yet. */
  running: boolean
  messages: number
  /** The message that is being written. */
  messageId: string
  readonly calls: Calls<PiCall>
}

export function initialState(start: Start): PiState {
  return {
    start,
    ledger: newLedger(),
    known: {},
    tools: new Set(),
    turn: newTurn(start.launch === 'oneshot'),
    running: false,
    messages: 0,
    messageId: '',
    calls: new Calls(),
  }
}

/** A turn is open if our prompt started it, and then waits for the echo of that prompt. */
function newTurn(open: boolean): PiTurn {
  return {
    open,
    settled: false,
    aborted: false,
    interrupting: false,
    awaitsEcho: open,
    blocks: new Map(),
    last: undefined,
    outputs: new Map(),
    inputs: new Map(),
    used: {},
    failure: undefined,
  }
}

/** Replaces the ended turn. */
export function closeTurn(state: PiState): void {
  state.turn = newTurn(false)
  resetDenials(state.ledger)
}
