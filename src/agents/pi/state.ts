import type { SessionUpdated } from '../../model/events/session.ts'
import type { ErrorInfo, Usage } from '../../model/index.ts'
import type { Emitted, Start } from '../agent.ts'
import type { Fields } from '../fields.ts'
import { type Ledger, newLedger } from '../ledger.ts'

/** A block of the message that is being written. */
export type Block =
  | { type: 'text' | 'thinking'; messageId: string }
  | { type: 'call'; messageId: string; toolId: string; name: string; shown: boolean }

/** A command without a response; pi responds to each command. */
export interface Sent {
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

export interface State {
  readonly start: Start
  readonly ledger: Ledger
  /** The reported session properties, so that nothing is emitted twice. */
  known: Omit<SessionUpdated, 'type'>
  /** The tools of the model. */
  readonly tools: Set<string>
  turnOpen: boolean
  /** A run started and has not settled yet. */
  running: boolean
  /** Pi reported that it will not continue by itself. */
  settled: boolean
  aborted: boolean
  interrupting: boolean
  /** Our aborts that are neither answered nor visibly effective, by command id. */
  readonly aborts: Set<string>
  /** Our prompt was not echoed yet. */
  awaitsEcho: boolean
  messages: number
  /** The message that is being written, and its blocks by index. */
  messageId: string
  blocks: Map<number, Block>
  /** The last complete message of the model: its end determines the result of the turn. */
  last: Fields | undefined
  /** The output of each call so far: progress frames contain all of it. */
  readonly outputs: Map<string, string>
  readonly inputs: Map<string, Fields>
  readonly dialogs: Map<string, Dialog>
  /** The usage of this turn's model calls. */
  used: Usage
  failure: ErrorInfo | undefined
  commandCount: number
  readonly commands: Map<string, Sent>
}

export function initialState(start: Start): State {
  return {
    start,
    ledger: newLedger(),
    known: {},
    tools: new Set(),
    turnOpen: start.launch === 'oneshot',
    running: false,
    settled: false,
    aborted: false,
    interrupting: false,
    aborts: new Set(),
    awaitsEcho: start.launch === 'oneshot',
    messages: 0,
    messageId: '',
    blocks: new Map(),
    last: undefined,
    outputs: new Map(),
    inputs: new Map(),
    dialogs: new Map(),
    used: {},
    failure: undefined,
    commandCount: 0,
    commands: new Map(),
  }
}

/** Resets the state of the ended turn. */
export function resetTurn(state: State): void {
  state.turnOpen = false
  state.settled = false
  state.aborted = false
  state.interrupting = false
  state.awaitsEcho = false
  state.blocks = new Map()
  state.last = undefined
  state.outputs.clear()
  state.inputs.clear()
  state.dialogs.clear()
  state.used = {}
  state.failure = undefined
}

/** Emits only changed properties. */
export function update(
  state: State,
  now: { [K in keyof SessionUpdated]?: SessionUpdated[K] | undefined },
): Emitted[] {
  const changed: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(now)) {
    if (value === undefined) continue
    if (JSON.stringify(value) !== JSON.stringify(Reflect.get(state.known, key))) changed[key] = value
  }
  if (Object.keys(changed).length === 0) return []
  state.known = { ...state.known, ...changed }
  return [{ type: 'session.updated', ...changed }]
}
