import type { Command, Usage } from '../../../model/index.ts'
import type { Start } from '../../agent.ts'
import type { Fields } from '../../kit/fields.ts'
import type { KnownFacts } from '../../kit/known.ts'
import { type Ledger, newLedger } from '../../kit/ledger.ts'
import type { AnyAsk } from '../asks.ts'
import type { Failure } from '../errors.ts'
import type { Thread } from './thread.ts'

/** A prompt, a background result or a compaction that waits for the session's next model call. */
export interface InboxItem {
  readonly type: string
  readonly text: string
  delivery: string
  delivered: boolean
}

/** The compaction that a turn consists of. */
export interface TurnCompaction {
  isReported: boolean
  failure: Failure | undefined
}

/** A busy period of the root that answers one prompt. */
export interface OpencodeTurn {
  /** The inbox id of its prompt; unknown until the server has accepted a prompt without our id. */
  promptId: string | undefined
  /** The turn compacts the conversation. */
  compaction: TurnCompaction | undefined
  /** The prompt as we sent it, to repeat it. */
  body: Fields | undefined
  /** The server has accepted the prompt. */
  accepted: boolean
  /** The model has read the prompt: only now the execution is about it. */
  delivered: boolean
  /** An execution started since the turn began. */
  executing: boolean
  /** The server has no execution any more; the last messages are read before the turn ends. */
  isIdle: boolean
  /** We requested the interrupt of this turn. */
  aborted: boolean
  /** The usage of the turn, sub-agents included. */
  used: Usage | undefined
  /** By the server's clock. */
  beganAt: number | undefined
  doneAt: number | undefined
}

export interface Ask extends AnyAsk {
  /** The native session that gets the answer. */
  readonly session: string
  readonly thread: Thread
  readonly native: Fields
}

/** A call of the model, from the start of its input. */
export interface KnownCall {
  readonly toolId: string
  name: string
  /** The file changes that its permission request showed: the result of `write` does not repeat them. */
  proposed: readonly Fields[]
}

/** An approval for the session: OpenCode would store it for the whole project, so it is kept here. */
export interface ToolGrant {
  readonly action: string
  readonly patterns: readonly string[]
}

/** The steps before the first prompt may be sent. */
export interface OpencodeOpening {
  /** We opened the session, so its id comes only with our response. */
  driven: boolean
  /** The agents of the directory are loaded; a prompt before that fails or lacks tools. */
  hasAgents: boolean
  /** Every MCP server is connected or has failed. */
  hasServers: boolean
  /** The released bodies; the preview has others. */
  api: 'released' | 'preview'
  /** Which of the lists is requested; `again` if it changed meanwhile. */
  asking: 'no' | 'yes' | 'again'
  /** A prompt that waits. */
  waiting: Extract<Command, { type: 'prompt' }> | undefined
  failure: Failure | undefined
}

export interface OpencodeState {
  readonly start: Start
  readonly ledger: Ledger<Ask>
  readonly mcpServers: readonly string[]
  readonly opening: OpencodeOpening
  known: KnownFacts
  root: Thread | undefined
  /** Root and children. Other sessions of the same server are ignored. */
  readonly threads: Map<string, Thread>
  turn: OpencodeTurn | undefined
  readonly inbox: Map<string, InboxItem>
  readonly grants: ToolGrant[]
  /** Calls by thread and native id. */
  readonly calls: Map<string, KnownCall>
  readonly toolIds: Set<string>
  /** Answers whose usage was reported. */
  readonly steps: Set<string>
  /** Answers that were read after their turn: late events repeat them. */
  readonly over: Set<string>
  /** Our interrupt is neither answered nor visibly effective. */
  aborting: boolean
  /** The number of event streams so far: every one after the first may have missed events. */
  streams: number
  /** Ids of recent events: two streams of one recording repeat them. */
  readonly seen: Set<string>
  /** The server's clock, at its last event. */
  clock: number
  /** The number of prompts that we have sent. */
  prompts: number
  /** The ids of prompts in a recording: a repeated one is not added. */
  readonly prompted: Set<string>
  model: string | undefined
  mode: string | undefined
}

export function initialState(start: Start): OpencodeState {
  return {
    start,
    ledger: newLedger(),
    mcpServers: Object.keys(start.options.mcpServers ?? {}),
    opening: {
      driven: false,
      hasAgents: false,
      hasServers: false,
      api: 'released',
      asking: 'no',
      waiting: undefined,
      failure: undefined,
    },
    known: {},
    root: undefined,
    threads: new Map(),
    turn: undefined,
    inbox: new Map(),
    grants: [],
    calls: new Map(),
    toolIds: new Set(),
    steps: new Set(),
    over: new Set(),
    aborting: false,
    streams: 0,
    seen: new Set(),
    clock: 0,
    prompts: 0,
    prompted: new Set(),
    model: start.options.model,
    mode: start.mode,
  }
}

export const newCompaction = (): TurnCompaction => ({ isReported: false, failure: undefined })

export function newTurn(promptId?: string): OpencodeTurn {
  return {
    promptId,
    compaction: undefined,
    body: undefined,
    accepted: false,
    delivered: false,
    executing: false,
    isIdle: false,
    aborted: false,
    used: undefined,
    beganAt: undefined,
    doneAt: undefined,
  }
}
