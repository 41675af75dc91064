import { addUsage, type Usage } from '../../../model/index.ts'
import type { Emitted } from '../../agent.ts'
import { type Fields, text } from '../../kit/fields.ts'
import { startSubagent } from '../../kit/subagents.ts'
import type { Failure } from '../errors.ts'
import type { OpencodeState } from './state.ts'

/** A block of text or reasoning that the server has ended. */
export interface EndedBlock {
  readonly kind: 'text' | 'thinking'
  readonly id: string
  readonly text: string
}

/** One native session: the root, which receives our prompts, or the child of a sub-agent. */
export interface Thread {
  readonly id: string
  /** The sub-agent of this thread; absent on the main thread. */
  readonly speaker: string | undefined
  /** The sub-agent that started this one. */
  readonly above: string | undefined
  readonly label: string
  readonly agentType: string | undefined
  /** The last number of its durable events. */
  seq: number | undefined
  /** Its start was emitted. */
  announced: boolean
  /** Its end was emitted; a new execution means that it was resumed. */
  ended: boolean
  /** Ids of blocks that have started and not ended. */
  readonly blocks: Set<string>
  /** Ended, but only the next event tells whether its step failed. */
  endedBlock: EndedBlock | undefined
  /** Calls that the server reported before the text in front of them. */
  heldCalls: Fields[]
  usage: Usage
  stepSeen: boolean
  /** The finish reason of the last model call. */
  reason: string | undefined
  answer: string | undefined
  failure: Failure | undefined
  /** A request was denied without a message: the server then ends the execution with the reason `shutdown`. */
  denied: boolean
}

function newThread(of: Pick<Thread, 'id' | 'speaker' | 'above' | 'label' | 'agentType'>): Thread {
  return {
    ...of,
    seq: undefined,
    announced: false,
    ended: false,
    blocks: new Set(),
    endedBlock: undefined,
    heldCalls: [],
    ...NO_WORK,
  }
}

const NO_WORK = {
  usage: {},
  stepSeen: false,
  reason: undefined,
  answer: undefined,
  failure: undefined,
  denied: false,
}

/** Resets the thread to the start of its work. */
export function restart(thread: Thread): void {
  Object.assign(thread, NO_WORK, { announced: false, ended: false })
}

export function adoptRoot(state: OpencodeState, id: string): Thread {
  const root = newThread({ id, speaker: undefined, above: undefined, label: '', agentType: undefined })
  state.root = root
  state.threads.set(id, root)
  return root
}

export function adoptChild(
  state: OpencodeState,
  id: string,
  above: Thread,
  label: string,
  agentType?: string,
): Thread {
  const child = newThread({ id, speaker: id, above: above.speaker, label, agentType })
  state.threads.set(id, child)
  return child
}

/** Returns the thread of an event; undefined for sessions of other clients. */
export function threadOf(state: OpencodeState, data: Fields): Thread | undefined {
  return state.threads.get(text(data, 'sessionID') ?? '')
}

/** Emits the start of a child once, before any of its events. */
export function announce(
  state: OpencodeState,
  thread: Thread,
  more: { toolId?: string; prompt?: string; agentType?: string; background?: true } = {},
): Emitted[] {
  const { speaker: id, above, label, agentType } = thread
  if (id === undefined || thread.announced) return []
  thread.announced = true
  return startSubagent(state.ledger, {
    id,
    label,
    ...(agentType !== undefined && { agentType }),
    ...(above !== undefined && { parent: above }),
    ...more,
  })
}

/** Adds one model call to its thread and to the turn. */
export function addStep(state: OpencodeState, thread: Thread, usage: Usage): void {
  thread.usage = addUsage(thread.usage, usage)
  thread.stepSeen = true
  if (state.turn) state.turn.used = addUsage(state.turn.used ?? {}, usage)
}
