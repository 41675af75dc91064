import type { Command, Usage } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import type { Fields } from '../../kit/fields.ts'
import type { KnownFacts } from '../../kit/known.ts'
import { type Ledger, newLedger, resetDenials } from '../../kit/ledger.ts'
import type { AnyAsk } from '../asks.ts'
import type { Failure } from '../errors.ts'
import { adopting, NO_WORK, resetWork, type SessionThread } from '../threads.ts'

export interface ServeMessage {
  readonly role: 'user' | 'assistant'
  readonly thread: SessionThread
  /** Frames about a message of an ended turn are ignored. */
  readonly turn: number
  /** The summary of a compacted conversation. */
  readonly summary: boolean
  done: boolean
}

export interface ServePart {
  readonly kind: 'text' | 'thinking' | 'tool' | 'other'
  readonly speaker: string | undefined
  /** The position among the parts of the turn, in the order in which the model wrote them. */
  readonly order: number
  /** The start of a text that was completed when a later call started; deltas may still follow. */
  completed: string
  done: boolean
  /** Some of its deltas were missed. Later ones are not shown: the end of the part has the whole text. */
  isGapped: boolean
  toolId: string
  title: string | undefined
  /** The emitted part of a tool's output: snapshots contain all of it so far. */
  output: string
}

export interface ServeAsk extends AnyAsk {
  readonly properties: Fields
  readonly questions: number
}

/** A frame that cannot be decoded before a later frame arrives. */
export interface HeldFrame {
  readonly messageId: string
  readonly properties: Fields
  readonly raw: string
}

/** A request that is opened when its call starts. */
export interface HeldAsk {
  readonly kind: ServeAsk['kind']
  readonly thread: SessionThread
  readonly callId: string
  readonly properties: Fields
}

/** The state of one turn. The next turn gets a new one. */
interface ServeTurn {
  readonly number: number
  open: boolean
  /** A user message that starts the turn once its text, or an answer to it, arrives. */
  pendingTurn: string | undefined
  /** The user message that started the turn. */
  prompt: string | undefined
  /** The session has worked on the turn. */
  busy: boolean
  /** We requested the abort of the turn. */
  aborted: boolean
  /** The session was idle after that, without an answer and before it had worked. */
  idleAfterAbort: boolean
  /** The prompt of the last turn, if it was aborted before any answer: an answer that still arrives starts no turn. */
  cutPrompt: string | undefined
  /** When the prompt was accepted and the last answer was done, by the server's clock. */
  beganAt: number | undefined
  doneAt: number | undefined
  readonly parts: Map<string, ServePart>
  /** Requests about calls that have not started, by native id. */
  readonly heldAsks: Map<string, HeldAsk>
  /** The emitted ids of calls, by thread and native id. */
  readonly callIds: Map<string, string>
  /** Emitted ids of calls with a request that have not started. */
  readonly awaited: Set<string>
  /** The usage of the turn, sub-agents included. */
  used: Usage | undefined
  /** The structured answer. */
  structured: unknown
  /** The server's clock when the prompt was sent. */
  since: number
  /** Nobody knows whether the server has the prompt, or these messages that joined the turn. */
  isDoubtful: boolean
  doubtfulSteers: string[]
}

/** The stored state is being read, because events were missed. */
export interface Recovery {
  /** Requests that were open before. */
  readonly requests: readonly string[]
  /** Sessions that do not work. */
  readonly idle: Set<string>
  /** Sessions whose messages are read. */
  readonly read: Set<string>
  /** Texts that are reported without deltas. */
  readonly texts: Set<string>
  /** The part whose stored state is decoded, if some of its deltas were missed. */
  gapped?: string | undefined
}

export interface ServeState {
  readonly start: Start
  readonly ledger: Ledger<ServeAsk>
  readonly mcpServers: readonly string[]
  known: KnownFacts
  root: SessionThread | undefined
  /** Root and children. Other sessions of the same server are ignored. */
  readonly threads: Map<string, SessionThread>
  /** We opened the session, so its id comes only with our response. */
  driven: boolean
  /** A prompt that waits for the session id. */
  waiting: Extract<Command, { type: 'prompt' }> | undefined
  openFailure: Failure | undefined
  turn: ServeTurn
  /** Our abort is neither answered nor visibly effective. */
  aborting: boolean
  /** The last turn ended as aborted. */
  wasAborted: boolean
  /** Messages of this turn and the last one. */
  readonly messages: Map<string, ServeMessage>
  /** Parts of messages whose role is unknown, by message. */
  readonly heldParts: Map<string, HeldFrame[]>
  /** Deltas of parts whose type is unknown, by part. */
  readonly heldDeltas: Map<string, HeldFrame[]>
  /** What the latest requests of this process asked, also of those that are closed. */
  readonly asked: Map<string, string>
  /** The number of event streams so far: every one after the first may have missed events. */
  streams: number
  recovery: Recovery | undefined
  /** The server's clock, at its last message. */
  clock: number
  model: string | undefined
  mode: string | undefined
}

export function initialState(start: Start): ServeState {
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
    turn: newTurn(1, 0),
    aborting: false,
    wasAborted: false,
    messages: new Map(),
    heldParts: new Map(),
    heldDeltas: new Map(),
    asked: new Map(),
    streams: 0,
    recovery: undefined,
    clock: 0,
    model: start.options.model,
    mode: start.mode,
  }
}

function newTurn(number: number, since: number): ServeTurn {
  return {
    number,
    open: false,
    pendingTurn: undefined,
    prompt: undefined,
    busy: false,
    aborted: false,
    idleAfterAbort: false,
    cutPrompt: undefined,
    beganAt: undefined,
    doneAt: undefined,
    parts: new Map(),
    heldAsks: new Map(),
    callIds: new Map(),
    awaited: new Set(),
    used: undefined,
    structured: undefined,
    since,
    isDoubtful: false,
    doubtfulSteers: [],
  }
}

export function partOf(
  state: ServeState,
  thread: SessionThread,
  id: string,
  kind: ServePart['kind'],
): ServePart {
  const known = state.turn.parts.get(id)
  if (known) return known
  const part: ServePart = {
    kind,
    speaker: thread.speaker,
    order: state.turn.parts.size,
    completed: '',
    done: false,
    isGapped: state.recovery?.gapped === id,
    toolId: '',
    title: undefined,
    output: '',
  }
  state.turn.parts.set(id, part)
  return part
}

/** Replaces the ended turn; its messages stay known for one more turn, to recognise late frames. */
export function closeTurn(state: ServeState): void {
  const ended = state.turn.number
  state.turn = newTurn(ended + 1, state.clock)
  state.recovery = undefined
  resetDenials(state.ledger)
  for (const [id, message] of state.messages) if (message.turn < ended) state.messages.delete(id)
  for (const [id, thread] of state.threads) if (thread !== state.root) state.threads.delete(id)
  if (state.root) resetWork(state.root)
}

export const { adoptRoot, adoptChild } = adopting<SessionThread>((of) => ({ ...of, ...NO_WORK }))
