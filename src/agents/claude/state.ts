import type { SessionUpdated } from '../../model/events/session.ts'
import type { ErrorInfo, Usage } from '../../model/index.ts'
import type { Start } from '../agent.ts'
import type { Fields } from '../fields.ts'
import { type Ledger, newLedger } from '../ledger.ts'
import { noTasks, type Tasks } from './tasks.ts'
import type { ModelUsage } from './usage.ts'

/** A block of the message that is being streamed. */
export interface Block {
  type: 'text' | 'thinking' | 'tool_use'
  messageId: string
  toolId: string
  toolName: string
  /** Something of it was shown, so dropping it must be told. */
  shown: boolean
  /** Its whole content has come; it can no longer be dropped. */
  whole: boolean
}

/** The end of a turn as the process told it; a one-shot process may tell several. */
export interface Result {
  native: Fields
  usage: Usage
  /** The figures are not the agent's own: it gave none, so its steps were added up. */
  computed: boolean
  /** What each model used, sub-agents included. */
  models: ReadonlyMap<string, ModelUsage>
  /** Refused calls; older versions tell them only here. */
  denials: number
}

/** A prompt on its way: sent, and not yet known to have begun. */
export interface Sent {
  text: string
  promptId: string | undefined
}

export interface Ask {
  nativeId: string
  tool: string
  toolId: string | undefined
  input: unknown
  suggestions: readonly unknown[]
}

export interface State {
  readonly start: Start
  readonly ledger: Ledger
  /** What the session is known to be, so that a repeated handshake says nothing. */
  known: Omit<SessionUpdated, 'type'>
  /** The message being streamed and its blocks by index. */
  messageId: string
  messageModel: string | undefined
  blocks: Map<unknown, Block>
  /** Whole blocks that came without deltas, counted for each message. */
  readonly unstreamed: Map<string, number>
  /** Shell calls that were announced as tasks; true for those in the background. */
  readonly shells: Map<string, boolean>
  readonly asks: Map<string, Ask>
  /** The plan that the open call to leave plan mode proposes; the request for it does not repeat it. */
  plan: { toolId: string; input: unknown } | undefined
  readonly tasks: Tasks
  /** How the MCP servers stood when last told. */
  readonly mcpServers: Map<string, string>
  turnOpen: boolean
  /** We have asked for the open turn to be interrupted. */
  interrupting: boolean
  steers: Sent[]
  /** What the model calls since the last result used, in case there is none or it says nothing. */
  steps: Usage
  stepSeen: boolean
  result: Result | undefined
  /** Older versions tell cost as a running total, which a resumed process begins at an unknown base. */
  costBefore: number | undefined
  apiError: ErrorInfo | undefined
  refusal: boolean
  structured: unknown
  stderr: string[]
  commandCount: number
  readonly commands: Map<string, string>
}

export function initialState(start: Start): State {
  return {
    start,
    ledger: newLedger(),
    known: {},
    messageId: '',
    messageModel: undefined,
    blocks: new Map(),
    unstreamed: new Map(),
    shells: new Map(),
    asks: new Map(),
    plan: undefined,
    tasks: noTasks(start),
    mcpServers: new Map(),
    turnOpen: start.launch === 'oneshot',
    interrupting: false,
    steers: [],
    steps: {},
    stepSeen: false,
    result: undefined,
    costBefore: start.resume === undefined ? 0 : undefined,
    apiError: undefined,
    refusal: false,
    structured: undefined,
    stderr: [],
    commandCount: 0,
    commands: new Map(),
  }
}

/** Forgets what belonged to the turn that ended. */
export function resetTurn(state: State): void {
  state.turnOpen = false
  state.interrupting = false
  state.plan = undefined
  state.messageId = ''
  state.blocks = new Map()
  state.unstreamed.clear()
  state.steps = {}
  state.stepSeen = false
  state.result = undefined
  state.apiError = undefined
  state.refusal = false
  state.structured = undefined
  state.ledger.denials = 0
  state.ledger.personDenials = 0
  for (const id of state.asks.keys()) if (!state.ledger.requests.has(id)) state.asks.delete(id)
}
