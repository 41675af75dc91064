import type { SessionUpdated } from '../../model/events/session.ts'
import type { ErrorInfo, Usage } from '../../model/index.ts'
import type { Emitted, Start } from '../agent.ts'
import type { Fields } from '../fields.ts'
import { type Ledger, newLedger } from '../ledger.ts'

/** A part of the message that is being written. */
export type Block =
  | { type: 'text' | 'thinking'; messageId: string }
  | { type: 'call'; messageId: string; toolId: string; name: string; shown: boolean }

/** A command of ours on its way; pi answers each of them. */
export interface Sent {
  type: string
  /** What a prompt says, and whether it opened the turn or joined one. */
  prompt?: { text: string; promptId: string | undefined; opens: boolean }
}

/** A dialog of an extension that waits for an answer. */
export interface Dialog {
  nativeId: string
  method: string
  /** The labels it can be answered with; any text where there are none. */
  labels: readonly string[]
  toolId: string | undefined
}

export interface State {
  readonly start: Start
  readonly ledger: Ledger
  /** What the session is known to be, so that nothing is told twice. */
  known: Omit<SessionUpdated, 'type'>
  /** The tools that the model was given. */
  readonly tools: Set<string>
  turnOpen: boolean
  /** A run began and did not settle yet. */
  running: boolean
  /** It said that it will not go on by itself. */
  settled: boolean
  aborted: boolean
  interrupting: boolean
  /** Our aborts that are neither answered nor seen to have taken effect, by id of the command. */
  readonly aborts: Set<string>
  /** Our own prompt has not yet been said back. */
  awaitsEcho: boolean
  messages: number
  /** The message that is being written, and its blocks by index. */
  messageId: string
  blocks: Map<number, Block>
  /** The last whole message of the model: how it ended is how the turn went. */
  last: Fields | undefined
  /** What each call has written so far: its progress is told as all of it. */
  readonly outputs: Map<string, string>
  readonly inputs: Map<string, Fields>
  readonly dialogs: Map<string, Dialog>
  /** What the model calls of this turn used. */
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

/** Forgets what belonged to the turn that ended. */
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

/** Only what is new is worth an event. */
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
