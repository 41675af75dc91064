import type { SessionUpdated } from '../../model/events/session.ts'
import type { ErrorInfo, Usage } from '../../model/index.ts'
import type { Start } from '../agent.ts'
import type { Fields } from '../fields.ts'
import { type Ledger, newLedger } from '../ledger.ts'
import { openToolId } from '../tools.ts'
import { type Binding, bind, newBinding } from './binding.ts'
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

/** The message that a thread is streaming, and its blocks by index. */
export interface Stream {
  /** The sub-agent whose thread it is. */
  readonly parent: string | undefined
  messageId: string
  model: string | undefined
  blocks: Map<unknown, Block>
  /** The message belongs to no open turn, so its pieces are dropped. */
  late: boolean
}

export function newStream(parent?: string): Stream {
  return { parent, messageId: '', model: undefined, blocks: new Map(), late: false }
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
  /** The last one ended work of the agent's own, while our prompt waited: what it used counts, its verdict does not. */
  own: boolean
}

/** A prompt on its way: sent, and not yet known to have begun. */
export interface Sent {
  text: string
  promptId: string | undefined
  /** A call has ended since, so that the model hears of it when it is called next. */
  passed: boolean
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
  /** Of the main thread. */
  stream: Stream
  /** Of each sub-agent that streams too. */
  readonly innerStreams: Map<string, Stream>
  /** Whole blocks that came without deltas, counted for each message. */
  readonly unstreamed: Map<string, number>
  /** Shell calls that were announced as tasks, and have not ended. */
  readonly shells: Map<string, { label: string; background: boolean }>
  readonly asks: Map<string, Ask>
  /** The plan that the open call to leave plan mode proposes; the request for it does not repeat it. */
  plan: { toolId: string; input: unknown } | undefined
  readonly tasks: Tasks
  /** How the MCP servers stood when last told. */
  readonly mcpServers: Map<string, string>
  turnOpen: boolean
  readonly binding: Binding
  /** The prompt that opened the turn, until it is known to have begun: the agent may be at work of its own. */
  waiting: Sent | undefined
  /** We have asked for the open turn to be interrupted. */
  interrupting: boolean
  /** Our interrupts that are neither acknowledged nor seen to have taken effect. */
  readonly interrupts: Set<string>
  steers: Sent[]
  /** The agent tells where prompts with an id begin; older versions do not. */
  lifecycle: boolean
  /** What the model calls since the last result used, in case there is none or it says nothing. */
  steps: Usage
  stepSeen: boolean
  result: Result | undefined
  /** What the results of the turn say of the main thread alone. */
  mainThread: Usage
  /** The model calls of each sub-agent since the last result: their prompts in tokens, by message. */
  readonly innerCalls: Map<string, Map<string, number>>
  /** The prompts of the last calls of sub-agents that returned. */
  lastCalls: number
  /** Older versions tell cost and models as running totals, which a resumed process begins at an unknown base. */
  costBefore: number | undefined
  modelsBefore: ReadonlyMap<string, ModelUsage> | undefined
  /** The last failure of the API, with Claude's own word for it. */
  apiError: (ErrorInfo & { word: string | undefined }) | undefined
  refusal: boolean
  /** The open call that gives structured output. What does not fit its schema is sent back. */
  structuredCall: { toolId: string; output: unknown } | undefined
  /** Calls of work in the background that a person refused since the last turn: the next one is told of them too. */
  readonly refusedBetween: Set<string>
  structured: unknown
  commandCount: number
  readonly commands: Map<string, string>
}

export function initialState(start: Start): State {
  return {
    start,
    ledger: newLedger(),
    known: {},
    stream: newStream(),
    innerStreams: new Map(),
    unstreamed: new Map(),
    shells: new Map(),
    asks: new Map(),
    plan: undefined,
    tasks: noTasks(start),
    mcpServers: new Map(),
    turnOpen: start.launch === 'oneshot',
    binding: newBinding(start),
    waiting: undefined,
    interrupting: false,
    interrupts: new Set(),
    steers: [],
    lifecycle: false,
    steps: {},
    stepSeen: false,
    result: undefined,
    mainThread: {},
    innerCalls: new Map(),
    lastCalls: 0,
    costBefore: start.resume === undefined ? 0 : undefined,
    modelsBefore: start.resume === undefined ? new Map() : undefined,
    apiError: undefined,
    refusal: false,
    structuredCall: undefined,
    refusedBetween: new Set(),
    structured: undefined,
    commandCount: 0,
    commands: new Map(),
  }
}

/** Forgets what belonged to the turn that ended. */
export function resetTurn(state: State): void {
  state.turnOpen = false
  state.waiting = undefined
  state.interrupting = false
  state.plan = undefined
  state.stream = newStream()
  for (const id of state.innerStreams.keys())
    if (!state.ledger.subagents.has(id)) state.innerStreams.delete(id)
  state.unstreamed.clear()
  state.steps = {}
  state.stepSeen = false
  state.result = undefined
  state.mainThread = {}
  state.innerCalls.clear()
  state.lastCalls = 0
  state.refusedBetween.clear()
  forgetVerdict(state)
  for (const id of state.asks.keys()) if (!state.ledger.requests.has(id)) state.asks.delete(id)
  forgetCalls(state)
}

/** Forgets what was remembered of calls that were cut: only a result or a notification would have ended it. */
function forgetCalls({ ledger, shells, tasks }: State): void {
  for (const [id, { background }] of shells) {
    if (!background && openToolId(ledger, id) === undefined) shells.delete(id)
  }
  for (const id of tasks.inputs.keys()) if (openToolId(ledger, id) === undefined) tasks.inputs.delete(id)
}

/** What was heard between turns, of work in the background, decides nothing in the one that begins. */
export function openTurn(state: State, progress: 'sent' | 'begun', promptId?: string): void {
  state.turnOpen = true
  bind(state, progress, promptId)
  forgetVerdict(state)
}

/** Forgets what was heard on the way to a result. */
export function forgetVerdict(state: State): void {
  state.ledger.denials = 0
  state.ledger.personDenials = 0
  state.apiError = undefined
  state.refusal = false
  state.structuredCall = undefined
  state.structured = undefined
}
