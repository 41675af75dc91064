import { addUsage, type Usage } from '../../../model/index.ts'
import type { Fields } from '../../kit/fields.ts'
import { adopting, NO_WORK, resetWork, type SessionThread } from '../threads.ts'
import type { OpencodeState } from './state.ts'

/** A block of text or reasoning that the server has ended. */
export interface EndedBlock {
  readonly kind: 'text' | 'thinking'
  readonly id: string
  readonly text: string
}

/** A thread of version 2. */
export interface Thread extends SessionThread {
  /** The last number of its durable events. */
  seq: number | undefined
  /** Ids of blocks that have started and not ended. */
  readonly blocks: Set<string>
  /** Ended, but only the next event tells whether its step failed. */
  endedBlock: EndedBlock | undefined
  /** Calls that the server reported before the text in front of them. */
  heldCalls: Fields[]
  /** A request was denied without a message: the server then ends the execution with the reason `shutdown`. */
  denied: boolean
}

export const { adoptRoot, adoptChild } = adopting<Thread>((of) => ({
  ...of,
  seq: undefined,
  blocks: new Set(),
  endedBlock: undefined,
  heldCalls: [],
  denied: false,
  ...NO_WORK,
}))

/** Resets the thread to the start of its work. */
export function restart(thread: Thread): void {
  resetWork(thread)
  thread.denied = false
}

/** Adds one model call to its thread and to the turn. */
export function addStep(state: OpencodeState, thread: Thread, usage: Usage): void {
  thread.usage = addUsage(thread.usage, usage)
  thread.stepSeen = true
  if (state.turn) state.turn.used = addUsage(state.turn.used ?? {}, usage)
}
