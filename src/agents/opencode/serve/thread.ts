import type { Usage } from '../../../model/index.ts'
import type { Emitted } from '../../agent.ts'
import { type Fields, text } from '../../kit/fields.ts'
import { startSubagent } from '../../kit/subagents.ts'
import type { Failure } from '../errors.ts'
import type { ServeState } from './state.ts'

/** One native session: the root, which receives our prompts, or the child of a sub-agent. */
export interface ServeThread {
  readonly id: string
  /** The sub-agent of this thread; absent on the main thread. */
  readonly speaker: string | undefined
  /** The sub-agent that started this one. */
  readonly above: string | undefined
  readonly label: string
  readonly agentType: string | undefined
  /** Its start was emitted. */
  announced: boolean
  /** Its end was emitted; a new answer means that it was resumed. */
  ended: boolean
  usage: Usage
  stepSeen: boolean
  reason: string | undefined
  answer: string | undefined
  failure: Failure | undefined
}

const NOTHING_YET = {
  announced: false,
  ended: false,
  usage: {},
  stepSeen: false,
  reason: undefined,
  answer: undefined,
  failure: undefined,
}

function newThread(of: Pick<ServeThread, 'id' | 'speaker' | 'above' | 'label' | 'agentType'>): ServeThread {
  return { ...of, ...NOTHING_YET }
}

/** Resets the thread to the start of its work. */
export function restart(thread: ServeThread): void {
  Object.assign(thread, NOTHING_YET)
}

export function adoptRoot(state: ServeState, id: string): ServeThread {
  const root = newThread({ id, speaker: undefined, above: undefined, label: '', agentType: undefined })
  state.root = root
  state.threads.set(id, root)
  return root
}

export function adoptChild(
  state: ServeState,
  id: string,
  above: ServeThread,
  label: string,
  agentType?: string,
): ServeThread {
  const child = newThread({ id, speaker: id, above: above.speaker, label, agentType })
  state.threads.set(id, child)
  return child
}

/** Returns the thread of a frame; undefined for sessions of other clients. */
export function threadOf(state: ServeState, properties: Fields): ServeThread | undefined {
  return state.threads.get(text(properties, 'sessionID') ?? '')
}

/** Emits the start of a child once, before any of its events. */
export function announce(
  state: ServeState,
  thread: ServeThread,
  more: { toolId?: string; prompt?: string; model?: string; agentType?: string } = {},
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
