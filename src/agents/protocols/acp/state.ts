import type { Command, ErrorInfo, RequestOption, ToolKind, Usage } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import { Calls } from '../../kit/calls.ts'
import type { Fields } from '../../kit/fields.ts'
import type { KnownFacts } from '../../kit/known.ts'
import { type Ledger, newLedger, resetDenials } from '../../kit/ledger.ts'
import type { FileChange } from '../../kit/tools.ts'
import { type AcpQuirks, PLAIN, quirksAt } from './launch/quirks.ts'
import type { AcpCall, RpcId } from './wire.ts'

/** Consecutive chunks of one kind. The protocol never reports its end: any other update ends it. */
export interface AcpBlock {
  kind: 'text' | 'thinking'
  messageId: string
  nativeId: string | undefined
  parent: string | undefined
  /** The thinking of the same message right before this text. */
  thought: string | undefined
  /** The block is known to be complete, so later text does not repeat it. */
  sealed: boolean
}

/** The start of a message that so far repeats the open block, and the thinking before it, exactly. */
export interface Echo {
  nativeId: string
  thought: string
  text: string
}

export interface ToolCall {
  /** The id in our events, once the call was emitted. */
  toolId: string | undefined
  name: string | undefined
  title: string | undefined
  kind: ToolKind | undefined
  /** The call switches modes, like the end of a plan. */
  switchesMode: boolean
  input: unknown
  locations: { path: string; line?: number }[] | undefined
  parent: string | undefined
  /** Text content, which each update replaces, and terminal output, which grows. */
  content: string
  terminal: string
  exitCode: number | undefined
  changes: FileChange[]
  /** The structured result, if the agent reports it separately from the text. */
  response: unknown
  /** Its sub-agent continues after the call has returned. */
  detached: boolean
}

/** Text in progress: of the main thread in a turn, or of a sub-agent. */
export interface AcpThread {
  /** The id of the sub-agent; undefined for the main thread. */
  subagent: string | undefined
  block: AcpBlock | undefined
  echo: Echo | undefined
  /** A chunk that may be the failure of the turn. */
  aside: { nativeId: string | undefined; text: string } | undefined
  /** The last complete text of the thread. */
  answer: string | undefined
}

/** A sub-agent with a session of its own, which outlives its work: it may be given more. */
export interface AcpChild extends AcpThread {
  readonly subagent: string
  readonly label: string
  readonly parent: string | undefined
}

export interface AcpTurn extends AcpThread {
  /** The prompt of the turn; undefined for one that the agent started. */
  call: RpcId | undefined
  /** A prompt that waits until the session is open. */
  held: AcpPrompt | undefined
  /** The agent reported a failure as text. */
  failed: boolean
  failure: string | undefined
  cancelling: boolean
  tools: number
  /** A sub-agent ran. */
  delegated: boolean
  /** The agent worked by itself in this turn, and its answer does not count these model calls. */
  uncounted: boolean
  steps: Usage | undefined
}

export type AcpPrompt = Command & { type: 'prompt' }

export interface AcpAsk {
  nativeId: RpcId
  toolId: string | undefined
  options: readonly RequestOption[]
  /** The parameters of a form; a permission has none. */
  form?: Fields
  /** The answers of a question that was sent as a permission request. */
  choices?: readonly { readonly id: string; readonly label: string }[]
}

/** A prompt that was sent during an open turn, and its response if that came first. */
interface WaitingPrompt {
  call: RpcId
  text: string
  answer?: Fields
}

export interface AcpState {
  readonly start: Start
  readonly ledger: Ledger<AcpAsk>
  quirks: AcpQuirks
  /** The last status and error of each compaction, by id. */
  readonly compactions: Map<string, string>
  /** Selects quirks by the name that the agent reports. */
  readonly detect: boolean
  /** The reported session properties, so that a repetition emits nothing. */
  known: KnownFacts
  readonly calls: Calls<AcpCall>
  /** Our input is unknown: a recording of the agent's output alone. */
  inputUnknown: boolean
  /** We opened the connection, so we continue the handshake. */
  driving: boolean
  /** The requested version. */
  version: number
  canLoad: boolean
  canFork: boolean
  canSeeImages: boolean
  logins: string[]
  /** The agent has modes and models, not only options of these categories. */
  hasModes: boolean
  hasModels: boolean
  sessionId: string | undefined
  /** Between `session/load` and the next prompt, content is history. */
  replaying: boolean
  /** The list of commands must arrive before the first prompt is sent: it follows the history, or names a command. */
  awaitsCommands: boolean
  /** A prompt was sent to this process. */
  prompted: boolean
  /** A setting was changed after the last prompt that is no command. */
  hasNewSettings: boolean
  /** Settings to apply before the first prompt. */
  setup: AcpCall[]
  /** The id of the pending setting. */
  settingCall: number | undefined
  ready: boolean
  broken: ErrorInfo | undefined
  readonly mcpServers: string[]
  turn: AcpTurn | undefined
  /** Sub-agents by the id of their session. */
  readonly children: Map<string, AcpChild>
  readonly waiting: WaitingPrompt[]
  readonly tools: Map<string, ToolCall>
  blockCount: number
  /** The session's running cost, and the part of earlier turns; unknown after resuming a foreign session. */
  cost: number | undefined
  costBefore: number | undefined
  /** The last running total of an agent that reports one instead of the usage of a turn. */
  usageBefore: Usage
  /** No turn has ended since the session was resumed. */
  resumed: boolean
  context: { used: number | undefined; size: number | undefined }
}

export function initialState(start: Start, quirks: AcpQuirks | undefined): AcpState {
  return {
    start,
    ledger: newLedger(),
    quirks: quirksAt(quirks ?? PLAIN, start.version),
    detect: quirks === undefined,
    compactions: new Map(),
    known: {},
    calls: new Calls(),
    inputUnknown: true,
    driving: false,
    version: 1,
    canLoad: false,
    canFork: false,
    canSeeImages: false,
    logins: [],
    hasModes: false,
    hasModels: false,
    sessionId: undefined,
    replaying: false,
    awaitsCommands: false,
    prompted: false,
    hasNewSettings: false,
    setup: [],
    settingCall: undefined,
    ready: false,
    broken: undefined,
    mcpServers: [],
    turn: undefined,
    children: new Map(),
    waiting: [],
    tools: new Map(),
    blockCount: 0,
    cost: undefined,
    costBefore: 0,
    usageBefore: {},
    resumed: false,
    context: { used: undefined, size: undefined },
  }
}

/** Denials between two turns count for neither. */
export function beginTurn(state: AcpState, call?: RpcId, held?: AcpPrompt): void {
  resetDenials(state.ledger)
  state.turn = newTurn(call, held)
  // A sub-agent of an earlier turn continues in this one.
  state.turn.delegated = state.ledger.subagents.size > 0
}

export function newThread() {
  return { block: undefined, echo: undefined, aside: undefined, answer: undefined }
}

function newTurn(call: RpcId | undefined, held: AcpPrompt | undefined): AcpTurn {
  return {
    ...newThread(),
    subagent: undefined,
    call,
    held,
    failed: false,
    failure: undefined,
    cancelling: false,
    tools: 0,
    delegated: false,
    uncounted: false,
    steps: undefined,
  }
}
