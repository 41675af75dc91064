import type { Usage } from '../../model/index.ts'
import type { Emitted } from '../agent.ts'
import { type Fields, text } from '../kit/fields.ts'
import type { Ledger } from '../kit/ledger.ts'
import { startSubagent } from '../kit/subagents.ts'
import type { Failure } from './errors.ts'

/** One native session of either server: the root, which receives our prompts, or the child of a sub-agent. */
export interface SessionThread {
  readonly id: string
  /** The sub-agent of this thread; absent on the main thread. */
  readonly speaker: string | undefined
  /** The sub-agent that started this one. */
  readonly above: string | undefined
  readonly label: string
  readonly agentType: string | undefined
  /** Its start was emitted. */
  announced: boolean
  /** Its end was emitted; new work means that it was resumed. */
  ended: boolean
  usage: Usage
  stepSeen: boolean
  /** The finish reason of the last model call. */
  reason: string | undefined
  answer: string | undefined
  failure: Failure | undefined
}

/** What a thread is before it works. */
export const NO_WORK = {
  announced: false,
  ended: false,
  usage: {},
  stepSeen: false,
  reason: undefined,
  answer: undefined,
  failure: undefined,
}

/** Resets the thread to the start of its work. */
export function resetWork(thread: SessionThread): void {
  Object.assign(thread, NO_WORK)
}

export type ThreadOrigin = Pick<SessionThread, 'id' | 'speaker' | 'above' | 'label' | 'agentType'>

export interface Threads<T> {
  readonly threads: Map<string, T>
  root: T | undefined
}

/** Adds the root of a session, or the child of a thread, to the threads that are followed. */
export function adopting<T extends SessionThread>(newThread: (of: ThreadOrigin) => T) {
  const adopt = (state: Threads<T>, of: ThreadOrigin): T => {
    const thread = newThread(of)
    state.threads.set(of.id, thread)
    return thread
  }
  return {
    adoptRoot(state: Threads<T>, id: string): T {
      const origin = { id, speaker: undefined, above: undefined, label: '', agentType: undefined }
      const root = adopt(state, origin)
      state.root = root
      return root
    },
    adoptChild(state: Threads<T>, id: string, above: SessionThread, label: string, agentType?: string): T {
      return adopt(state, { id, speaker: id, above: above.speaker, label, agentType })
    },
  }
}

/** Returns the thread of an event; undefined for sessions of other clients. */
export function threadOf<T>({ threads }: Pick<Threads<T>, 'threads'>, data: Fields): T | undefined {
  return threads.get(text(data, 'sessionID') ?? '')
}

/** Emits the start of a child once, before any of its events. */
export function announce(
  { ledger }: { readonly ledger: Ledger },
  thread: SessionThread,
  more: { toolId?: string; prompt?: string; model?: string; agentType?: string; background?: true } = {},
): Emitted[] {
  const { speaker: id, above, label, agentType } = thread
  if (id === undefined || thread.announced) return []
  thread.announced = true
  return startSubagent(ledger, {
    id,
    label,
    ...(agentType !== undefined && { agentType }),
    ...(above !== undefined && { parent: above }),
    ...more,
  })
}
