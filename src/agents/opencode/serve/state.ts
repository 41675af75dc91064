import type { SessionUpdated } from '../../../model/events/session.ts'
import type { Decision, Usage } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import type { Fields } from '../../fields.ts'
import { type Ledger, newLedger } from '../../ledger.ts'
import type { Failure } from '../errors.ts'
import { restart, type Thread } from './thread.ts'

export interface Message {
  readonly role: 'user' | 'assistant'
  readonly thread: Thread
  /** Frames about a message of an ended turn are ignored. */
  readonly turn: number
  /** The summary of a compacted conversation. */
  readonly summary: boolean
  done: boolean
}

export interface Part {
  readonly kind: 'text' | 'thinking' | 'tool' | 'other'
  readonly speaker: string | undefined
  /** The position among the parts of the turn, in the order in which the model wrote them. */
  readonly order: number
  /** The start of a text that was completed when a later call started; deltas may still follow. */
  completed: string
  done: boolean
  toolId: string
  title: string | undefined
  /** The emitted part of a tool's output: snapshots contain all of it so far. */
  output: string
}

export interface Ask {
  readonly nativeId: string
  readonly kind: 'permission' | 'question'
  readonly toolId: string | undefined
  readonly questions: number
  /** The decision that follows from our answer to another permission. */
  follows?: Decision
}

/** A frame that cannot be decoded before a later frame arrives. */
export interface Held {
  readonly messageId: string
  readonly properties: Fields
  readonly raw: string
}

export interface State {
  readonly start: Start
  readonly ledger: Ledger
  readonly mcpServers: readonly string[]
  known: Omit<SessionUpdated, 'type'>
  root: Thread | undefined
  /** Root and children. Other sessions of the same server are ignored. */
  readonly threads: Map<string, Thread>
  /** We opened the session, so its id comes only with our response. */
  driven: boolean
  /** A prompt that waits for the session id. */
  waiting: Fields | undefined
  openFailure: Failure | undefined
  turn: number
  turnOpen: boolean
  /** A user message that starts a turn once its text, or an answer to it, arrives. */
  pendingTurn: string | undefined
  /** The user message that started the open turn. */
  prompt: string | undefined
  /** The session has worked on the open turn. */
  busy: boolean
  /** We requested the abort of the open turn. */
  aborted: boolean
  /** The session was idle after that, without an answer and before it had worked. */
  idleAfterAbort: boolean
  /** Our abort is neither answered nor visibly effective. */
  aborting: boolean
  /** The last turn ended as aborted. */
  wasAborted: boolean
  /** The prompt of the last turn, if it was aborted before any answer: an answer that still arrives starts no turn. */
  cutPrompt: string | undefined
  /** When the prompt was accepted and the last answer was done, by the server's clock. */
  beganAt: number | undefined
  doneAt: number | undefined
  readonly messages: Map<string, Message>
  readonly parts: Map<string, Part>
  /** Parts of messages whose role is unknown, by message. */
  readonly heldParts: Map<string, Held[]>
  /** Deltas of parts whose type is unknown, by part. */
  readonly heldDeltas: Map<string, Held[]>
  readonly asks: Map<string, Ask>
  readonly asked: Set<string>
  /** The emitted ids of calls, by thread and native id. */
  readonly callIds: Map<string, string>
  /** Emitted ids of calls with a request that have not started. */
  readonly awaited: Set<string>
  /** The usage of the open turn, sub-agents included. */
  used: Usage | undefined
  /** The structured answer. */
  structured: unknown
  model: string | undefined
  mode: string | undefined
}

export function initialState(start: Start): State {
  return {
    start,
    ledger: newLedger(),
    mcpServers: Object.keys(start.options.mcpServers ?? {}),
    known: {},
    root: undefined,
    threads: new Map(),
    driven: false,
    waiting: undefined,
    openFailure: undefined,
    turn: 1,
    turnOpen: false,
    pendingTurn: undefined,
    prompt: undefined,
    busy: false,
    aborted: false,
    idleAfterAbort: false,
    aborting: false,
    wasAborted: false,
    cutPrompt: undefined,
    beganAt: undefined,
    doneAt: undefined,
    messages: new Map(),
    parts: new Map(),
    heldParts: new Map(),
    heldDeltas: new Map(),
    asks: new Map(),
    asked: new Set(),
    callIds: new Map(),
    awaited: new Set(),
    used: undefined,
    structured: undefined,
    model: start.options.model,
    mode: start.mode,
  }
}

export function partOf(state: State, thread: Thread, id: string, kind: Part['kind']): Part {
  const known = state.parts.get(id)
  if (known) return known
  const part: Part = {
    kind,
    speaker: thread.speaker,
    order: state.parts.size,
    completed: '',
    done: false,
    toolId: '',
    title: undefined,
    output: '',
  }
  state.parts.set(id, part)
  return part
}

/** Resets the state of the ended turn; its messages stay known for one more turn, to recognise late frames. */
export function resetTurn(state: State): void {
  state.turn++
  state.turnOpen = false
  state.pendingTurn = undefined
  state.prompt = undefined
  state.busy = false
  state.aborted = false
  state.idleAfterAbort = false
  state.cutPrompt = undefined
  state.beganAt = undefined
  state.doneAt = undefined
  state.used = undefined
  state.structured = undefined
  for (const [id, message] of state.messages) if (message.turn < state.turn - 1) state.messages.delete(id)
  for (const [id, thread] of state.threads) if (thread !== state.root) state.threads.delete(id)
  state.parts.clear()
  state.asks.clear()
  state.callIds.clear()
  state.awaited.clear()
  state.ledger.denials = 0
  state.ledger.personDenials = 0
  if (state.root) restart(state.root)
}
