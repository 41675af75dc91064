import type { ErrorInfo, Usage } from '../../model/index.ts'
import type { Start } from '../agent.ts'
import { Calls } from '../kit/calls.ts'
import type { Fields } from '../kit/fields.ts'
import type { KnownFacts } from '../kit/known.ts'
import { type Ledger, newLedger, resetDenials } from '../kit/ledger.ts'
import { openToolId } from '../kit/tools.ts'
import { type Binding, bind, newBinding } from './binding.ts'
import type { Rewind } from './rewind.ts'
import { noTasks, type Tasks } from './tasks.ts'
import type { ModelUsage } from './usage.ts'

/** A block of the message that is being streamed. */
export interface StreamBlock {
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
export interface MessageStream {
  /** The sub-agent of this thread. */
  readonly parent: string | undefined
  messageId: string
  model: string | undefined
  blocks: Map<unknown, StreamBlock>
  /** The message belongs to no open turn, so its deltas are dropped. */
  late: boolean
}

export function newStream(parent?: string): MessageStream {
  return { parent, messageId: '', model: undefined, blocks: new Map(), late: false }
}

/** The end of a turn as the process reported it; a one-shot process may report several. */
export interface ClaudeResult {
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
export interface SentPrompt {
  text: string
  promptId: string | undefined
  /** A tool call has ended since, so the next model call includes this prompt. */
  passed: boolean
}

export interface ClaudeAsk {
  nativeId: string
  tool: string
  toolId: string | undefined
  input: unknown
  suggestions: readonly unknown[]
  /** The input refers to values that are stored as blobs. */
  isAbridged?: true
}

/** The facts that a result does not contain; each result of a turn has its own. */
interface ResultEvidence {
  /** The last API failure, with Claude's error type. */
  apiError: (ErrorInfo & { word: string | undefined }) | undefined
  refusal: boolean
  /** The open call with structured output. Output that does not match its schema is sent back. */
  structuredCall: { toolId: string; output: unknown } | undefined
  structured: unknown
}

/** The state of one turn and of the time before it. The next turn gets a new one. */
interface ClaudeTurn {
  open: boolean
  /** The prompt that opened the turn, until it is known to have started: the agent may be busy with background work. */
  waiting: SentPrompt | undefined
  /** We have requested an interrupt of the open turn. */
  interrupting: boolean
  /** Set if the turn restores files instead of calling the model. */
  rewind: Rewind | undefined
  /** The plan of the open call to leave plan mode; the request for it does not repeat the plan. */
  plan: { toolId: string; input: unknown } | undefined
  /** The stream of the main thread. */
  readonly stream: MessageStream
  /** The number of complete blocks without deltas, by message. */
  readonly unstreamed: Map<string, number>
  /** The usage of model calls since the last result, in case the result is missing or empty. */
  steps: Usage
  stepSeen: boolean
  result: ClaudeResult | undefined
  /** The usage of the main thread alone, from the results of the turn. */
  mainThread: Usage
  /** The model calls of each sub-agent since the last result: prompt tokens by message. */
  readonly innerCalls: Map<string, Map<string, number>>
  /** The prompt tokens of the last calls of sub-agents that returned. */
  lastCalls: number
  /** Background calls that a person denied since the last turn: the next result lists them too. */
  readonly refusedBetween: Set<string>
  evidence: ResultEvidence
}

export interface ClaudeState {
  readonly start: Start
  readonly ledger: Ledger<ClaudeAsk>
  /** The reported session properties, so that a repeated handshake emits nothing. */
  known: KnownFacts
  turn: ClaudeTurn
  readonly binding: Binding
  /** The streams of sub-agents. */
  readonly innerStreams: Map<string, MessageStream>
  /** Shell calls that were announced as tasks and have not ended. */
  readonly shells: Map<string, { label: string; background: boolean }>
  readonly tasks: Tasks
  /** The last reported state of the MCP servers. */
  readonly mcpServers: Map<string, string>
  steers: SentPrompt[]
  /** The agent reports where prompts with an id start; older versions do not. */
  lifecycle: boolean
  /** Older versions report cost and models as running totals, which start at an unknown base in a resumed process. */
  costBefore: number | undefined
  modelsBefore: ReadonlyMap<string, ModelUsage> | undefined
  /** Control requests, by subtype. */
  readonly calls: Calls<string>
}

export function initialState(start: Start): ClaudeState {
  return {
    start,
    ledger: newLedger(),
    known: {},
    turn: newTurn(start.launch === 'oneshot'),
    binding: newBinding(start),
    innerStreams: new Map(),
    shells: new Map(),
    tasks: noTasks(start),
    mcpServers: new Map(),
    steers: [],
    lifecycle: false,
    costBefore: start.resume === undefined ? 0 : undefined,
    modelsBefore: start.resume === undefined ? new Map() : undefined,
    calls: new Calls(),
  }
}

function newTurn(open: boolean): ClaudeTurn {
  return {
    open,
    waiting: undefined,
    interrupting: false,
    rewind: undefined,
    plan: undefined,
    stream: newStream(),
    unstreamed: new Map(),
    steps: {},
    stepSeen: false,
    result: undefined,
    mainThread: {},
    innerCalls: new Map(),
    lastCalls: 0,
    refusedBetween: new Set(),
    evidence: newEvidence(),
  }
}

function newEvidence(): ResultEvidence {
  return { apiError: undefined, refusal: false, structuredCall: undefined, structured: undefined }
}

/** Replaces the ended turn, and forgets calls that were cut off: only a result or a notification would have ended them. */
export function closeTurn(state: ClaudeState): void {
  const { ledger, innerStreams, shells, tasks } = state
  state.turn = newTurn(false)
  resetDenials(ledger)
  for (const id of innerStreams.keys()) if (!ledger.subagents.has(id)) innerStreams.delete(id)
  for (const [id, { background }] of shells) {
    if (!background && openToolId(ledger, id) === undefined) shells.delete(id)
  }
  for (const id of tasks.inputs.keys()) if (openToolId(ledger, id) === undefined) tasks.inputs.delete(id)
}

/** Events of background work between turns do not affect the turn that starts. */
export function openTurn(state: ClaudeState, progress: 'sent' | 'begun', promptId?: string): void {
  state.turn.open = true
  bind(state, progress, promptId)
  forgetVerdict(state)
}

/** Resets the evidence collected for a result. */
export function forgetVerdict(state: ClaudeState): void {
  resetDenials(state.ledger)
  state.turn.evidence = newEvidence()
}
