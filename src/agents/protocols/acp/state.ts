import type { RpcId } from '../../../framing/json-rpc.ts'
import type { SessionUpdated } from '../../../model/events/session.ts'
import type { Command, ErrorInfo, RequestOption, ToolKind, Usage } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import type { Fields } from '../../fields.ts'
import { type Ledger, newLedger } from '../../ledger.ts'
import type { Change } from '../../tools.ts'
import { type AcpQuirks, PLAIN, quirksAt } from './quirks.ts'
import type { Sent } from './wire.ts'

/** A run of chunks of one kind. The protocol never says where it ends: whatever comes in between does. */
export interface Block {
  kind: 'text' | 'thinking'
  messageId: string
  nativeId: string | undefined
  parent: string | undefined
  /** What the same message thought right before it said this. */
  thought: string | undefined
  /** It is known to be whole, so what follows is no repetition of it. */
  sealed: boolean
}

/** The start of a message that so far repeats the open block, and what was thought before it, word for word. */
export interface Echo {
  nativeId: string
  thought: string
  text: string
}

export interface ToolCall {
  /** Its id in our events, once it has been started there. */
  toolId: string | undefined
  name: string | undefined
  title: string | undefined
  kind: ToolKind | undefined
  /** It leaves one mode for another, as the end of a plan does. */
  switchesMode: boolean
  input: unknown
  locations: { path: string; line?: number }[] | undefined
  parent: string | undefined
  /** Text content, which each update replaces, and terminal output, which grows. */
  content: string
  terminal: string
  exitCode: number | undefined
  changes: Change[]
  /** The structured result, where the agent tells it apart from the text. */
  response: unknown
  /** Its sub-agent goes on after the call has returned. */
  detached: boolean
}

export interface Turn {
  /** The prompt it answers; undefined for one the agent began by itself. */
  call: RpcId | undefined
  /** A prompt that waits until the session is open. */
  held: PromptCommand | undefined
  block: Block | undefined
  echo: Echo | undefined
  /** A chunk that may be the failure of the turn. */
  aside: { nativeId: string | undefined; text: string } | undefined
  /** The agent said that it failed, in words of its own. */
  failed: boolean
  failure: string | undefined
  cancelling: boolean
  /** The last whole text of the main thread. */
  answer: string | undefined
  tools: number
  /** A sub-agent worked. */
  delegated: boolean
  steps: Usage | undefined
}

export type PromptCommand = Command & { type: 'prompt' }

export interface Ask {
  nativeId: RpcId
  toolId: string | undefined
  options: readonly RequestOption[]
  /** The parameters of a form that is to be filled in; a permission has none. */
  form?: Fields
}

/** A prompt that was sent while a turn was open, and its answer if that came first. */
interface Waiting {
  call: RpcId
  text: string
  answer?: Fields
}

export interface State {
  readonly start: Start
  readonly ledger: Ledger
  quirks: AcpQuirks
  /** The last status and error of each compaction, by its id. */
  readonly compactions: Map<string, string>
  /** Quirks are looked up by the name the agent gives. */
  readonly detect: boolean
  /** What the session is known to be, so that a repetition says nothing. */
  known: Omit<SessionUpdated, 'type'>
  readonly calls: Map<RpcId, Sent>
  callCount: number
  /** Nothing of what was written to the agent is known: a recording of its output alone. */
  deaf: boolean
  /** We opened it, so we go on with the handshake. */
  driving: boolean
  /** The version that was asked for. */
  version: number
  canLoad: boolean
  canSeeImages: boolean
  logins: string[]
  /** Modes and models of its own, and not only options of these categories. */
  hasModes: boolean
  hasModels: boolean
  sessionId: string | undefined
  /** Between `session/load` and the next prompt, content is history. */
  replaying: boolean
  /** The list of commands has to come before the first prompt may go. */
  awaitsCommands: boolean
  /** Settings to be made before the first prompt. */
  setup: Sent[]
  /** The one of them that is on its way. */
  settingCall: number | undefined
  ready: boolean
  broken: ErrorInfo | undefined
  readonly mcpServers: string[]
  turn: Turn | undefined
  readonly waiting: Waiting[]
  readonly tools: Map<string, ToolCall>
  readonly asks: Map<string, Ask>
  /** How often an id of a request was used. */
  readonly askCounts: Map<string, number>
  blockCount: number
  /** The session's running cost, and what of it belongs to earlier turns; unknown after a foreign resume. */
  cost: number | undefined
  costBefore: number | undefined
  context: { used: number | undefined; size: number | undefined }
}

export function initialState(start: Start, quirks: AcpQuirks | undefined): State {
  return {
    start,
    ledger: newLedger(),
    quirks: quirksAt(quirks ?? PLAIN, start.version),
    detect: quirks === undefined,
    compactions: new Map(),
    known: {},
    calls: new Map(),
    callCount: 0,
    deaf: true,
    driving: false,
    version: 1,
    canLoad: false,
    canSeeImages: false,
    logins: [],
    hasModes: false,
    hasModels: false,
    sessionId: undefined,
    replaying: false,
    awaitsCommands: false,
    setup: [],
    settingCall: undefined,
    ready: false,
    broken: undefined,
    mcpServers: [],
    turn: undefined,
    waiting: [],
    tools: new Map(),
    asks: new Map(),
    askCounts: new Map(),
    blockCount: 0,
    cost: undefined,
    costBefore: 0,
    context: { used: undefined, size: undefined },
  }
}

/** What was refused between two turns counts for neither. */
export function beginTurn(state: State, call?: RpcId, held?: PromptCommand): void {
  state.ledger.denials = 0
  state.ledger.personDenials = 0
  state.turn = newTurn(call, held)
}

function newTurn(call: RpcId | undefined, held: PromptCommand | undefined): Turn {
  return {
    call,
    held,
    block: undefined,
    echo: undefined,
    aside: undefined,
    failed: false,
    failure: undefined,
    cancelling: false,
    answer: undefined,
    tools: 0,
    delegated: false,
    steps: undefined,
  }
}
