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
  /** Some of the block was shown, so discarding it must be reported. */
  shown: boolean
  /** The block is complete and can no longer be discarded. */
  whole: boolean
}

/** The message that a thread is streaming, and its blocks by index. */
export interface Stream {
  /** The sub-agent of this thread. */
  readonly parent: string | undefined
  messageId: string
  model: string | undefined
  blocks: Map<unknown, Block>
  /** The message belongs to no open turn, so its deltas are dropped. */
  late: boolean
}

export function newStream(parent?: string): Stream {
  return { parent, messageId: '', model: undefined, blocks: new Map(), late: false }
}

/** The end of a turn as the process reported it; a one-shot process may report several. */
export interface Result {
  native: Fields
  usage: Usage
  /** The agent reported no usage, so it was summed from the steps. */
  computed: boolean
  /** The usage of each model, sub-agents included. */
  models: ReadonlyMap<string, ModelUsage>
  /** Denied calls; older versions report them only here. */
  denials: number
  /**
   * The last result ended the agent's background work while our prompt waited: its usage counts, its verdict does not.
   */
  own: boolean
}

/** A prompt that was sent and is not yet known to have started. */
export interface Sent {
  text: string
  promptId: string | undefined
  /** A tool call has ended since, so the next model call includes this prompt. */
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
  /** The reported session properties, so that a repeated handshake emits nothing. */
  known: Omit<SessionUpdated, 'type'>
  /** The stream of the main thread. */
  stream: Stream
  /** The streams of sub-agents. */
  readonly innerStreams: Map<string, Stream>
  /** The number of complete blocks without deltas, by message. */
  readonly unstreamed: Map<string, number>
  /** Shell calls that were announced as tasks and have not ended. */
  readonly shells: Map<string, { label: string; background: boolean }>
  readonly asks: Map<string, Ask>
  /** The plan of the open call to leave plan mode; the request for it does not repeat the plan. */
  plan: { toolId: string; input: unknown } | undefined
  readonly tasks: Tasks
  /** The last reported state of the MCP servers. */
  readonly mcpServers: Map<string, string>
  turnOpen: boolean
  readonly binding: Binding
  /** The prompt that opened the turn, until it is known to have started: the agent may be busy with background work. */
  waiting: Sent | undefined
  /** We have requested an interrupt of the open turn. */
  interrupting: boolean
  /** Our interrupts that are neither acknowledged nor visibly effective. */
  readonly interrupts: Set<string>
  steers: Sent[]
  /** The agent reports where prompts with an id start; older versions do not. */
  lifecycle: boolean
  /** The usage of model calls since the last result, in case the result is missing or empty. */
  steps: Usage
  stepSeen: boolean
  result: Result | undefined
  /** The usage of the main thread alone, from the results of the turn. */
  mainThread: Usage
  /** The model calls of each sub-agent since the last result: prompt tokens by message. */
  readonly innerCalls: Map<string, Map<string, number>>
  /** The prompt tokens of the last calls of sub-agents that returned. */
  lastCalls: number
  /** Older versions report cost and models as running totals, which start at an unknown base in a resumed process. */
  costBefore: number | undefined
  modelsBefore: ReadonlyMap<string, ModelUsage> | undefined
  /** The last API failure, with Claude's error type. */
  apiError: (ErrorInfo & { word: string | undefined }) | undefined
  refusal: boolean
  /** The open call with structured output. Output that does not match its schema is sent back. */
  structuredCall: { toolId: string; output: unknown } | undefined
  /** Background calls that a person denied since the last turn: the next result lists them too. */
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

/** Resets the state of the ended turn. */
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

/** Forgets calls that were cut off: only a result or a notification would have ended them. */
function forgetCalls({ ledger, shells, tasks }: State): void {
  for (const [id, { background }] of shells) {
    if (!background && openToolId(ledger, id) === undefined) shells.delete(id)
  }
  for (const id of tasks.inputs.keys()) if (openToolId(ledger, id) === undefined) tasks.inputs.delete(id)
}

/** Events of background work between turns do not affect the turn that starts. */
export function openTurn(state: State, progress: 'sent' | 'begun', promptId?: string): void {
  state.turnOpen = true
  bind(state, progress, promptId)
  forgetVerdict(state)
}

/** Resets the evidence collected for a result. */
export function forgetVerdict(state: State): void {
  state.ledger.denials = 0
  state.ledger.personDenials = 0
  state.apiError = undefined
  state.refusal = false
  state.structuredCall = undefined
  state.structured = undefined
}
