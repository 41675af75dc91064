import type { SubagentCompleted } from '../../../model/events/work.ts'
import { addUsage, type Usage } from '../../../model/index.ts'
import type { Emitted } from '../../agent.ts'
import { compact, type Fields, isFields, text } from '../../kit/fields.ts'
import type { LedgerTool } from '../../kit/ledger.ts'
import { closeMessage, discardMessage } from '../../kit/messages.ts'
import { settleThread } from '../../kit/settle.ts'
import { finishSubagent, startSubagent } from '../../kit/subagents.ts'
import type { Announced, AppServerState, ChildThread } from './state.ts'

/** The sub-agent whose thread a frame belongs to; undefined for the conversation itself. */
export function parentOf(state: AppServerState, params: Fields): string | undefined {
  const threadId = text(params, 'threadId')
  if (threadId === undefined || threadId === state.threadId) return undefined
  // Without a recorded handshake, the first thread with a frame is the conversation.
  if (state.threadId === undefined) {
    state.threadId = threadId
    return undefined
  }
  return threadId
}

/** Codex reports a sub-agent by its activity, by the call that created it, or not at all. */
export function startChild(state: AppServerState, announced: Announced): Emitted[] {
  return state.children.has(announced.id) ? [] : beginChild(state, announced)
}

function beginChild(state: AppServerState, announced: Announced, turn?: string): Emitted[] {
  state.children.set(announced.id, { announced, turn, usage: undefined, answer: undefined })
  // A separate thread: it continues when the turn that started it ends.
  return startSubagent(state.ledger, { ...announced, background: true })
}

/** A frame of an unannounced thread still needs an author. */
export function adoptChild(state: AppServerState, id: string): Emitted[] {
  return state.children.has(id) ? [] : beginChild(state, unannounced(state, id))
}

/** A thread may send frames before the call that spawned it names it: the only unclaimed open call is that call. */
function unannounced({ ledger, children }: AppServerState, id: string): Announced {
  const claimed = new Set(Array.from(children.values(), ({ announced }) => announced.toolId))
  const isUnclaimed = ({ name, nativeId }: LedgerTool) => name === 'spawnAgent' && !claimed.has(nativeId)
  const [spawn, another] = [...ledger.tools.values()].filter(isUnclaimed)
  if (!spawn || another) return { id, label: 'sub-agent' }
  const { nativeId: toolId, input, parent } = spawn
  const prompt = isFields(input) ? text(input, 'prompt') : undefined
  return { id, toolId, label: prompt?.split('\n', 1)[0] || 'sub-agent', ...compact({ prompt, parent }) }
}

export function hasEnded({ children, ledger }: AppServerState, id: string): boolean {
  return children.has(id) && !ledger.subagents.has(id)
}

/** Returns whether a frame belongs to an ended turn or sub-agent. */
export function isLate(state: AppServerState, params: Fields, parent: string | undefined): boolean {
  if (parent !== undefined && hasEnded(state, parent)) return true
  const turnId = text(params, 'turnId')
  // The open turn first, because the comparison is cheaper than the lookup.
  return turnId !== undefined && turnId !== state.turn?.id && state.ended.has(turnId)
}

/** The thread works in a turn: for the first time, or again after its end, for another call and prompt. */
export function wakeChild(state: AppServerState, id: string, turn: string | undefined): Emitted[] {
  if (state.ledger.subagents.has(id)) return []
  const child = state.children.get(id)
  // Another thread may have reported its end too early: its last turn continues and will end later.
  const at = turn ?? child?.turn
  if (at !== undefined) state.ended.delete(at)
  return beginChild(state, child?.announced ?? unannounced(state, id), at)
}

export function countUsage(of: { usage: Usage | undefined }, usage: Usage): void {
  of.usage = of.usage ? addUsage(of.usage, usage) : usage
}

/** Ends a sub-agent and everything it left open; does nothing when it has already ended. */
export function endChild(
  state: AppServerState,
  id: string,
  end: Pick<SubagentCompleted, 'status' | 'durationMs' | 'summary'>,
): Emitted[] {
  if (!state.ledger.subagents.has(id)) return []
  const child = state.children.get(id)
  // Another thread may report its end before it does.
  if (child?.turn !== undefined) state.ended.add(child.turn)
  const emitted = settleThread(state.ledger, id, end.status)
  const result = compact({ summary: child?.answer ?? end.summary, usage: child?.usage })
  if (child) state.children.set(id, endedChild(child))
  return [...emitted, ...finishSubagent(state.ledger, id, { ...end, ...result })]
}

/** The state kept in case the thread continues, without the call, prompt and answer of the ended work. */
function endedChild({ announced, turn }: ChildThread): ChildThread {
  const { id, model, parent } = announced
  // Copied, because a substring would keep the whole prompt in memory.
  const label: string = JSON.parse(JSON.stringify(announced.label))
  const again = { id, label, ...compact({ model, parent }) }
  return { announced: again, turn, usage: undefined, answer: undefined }
}

/** Discards the partial messages of a thread whose stream broke: they are repeated under new ids. */
export function discardHalves({ ledger, parts }: AppServerState, parent: string | undefined): Emitted[] {
  const emitted: Emitted[] = []
  for (const message of ledger.messages.values()) {
    if (message.parent !== parent) continue
    parts.delete(message.nativeId)
    emitted.push(...discardMessage(ledger, message.nativeId))
  }
  return emitted
}

/** Cuts off the messages of the conversation at a prompt. They are usually not repeated. */
export function cutHalves({ ledger, span: { cuts } }: AppServerState): Emitted[] {
  const emitted: Emitted[] = []
  for (const { nativeId, parent, text } of ledger.messages.values()) {
    if (parent !== undefined) continue
    cuts.set(nativeId, (cuts.get(nativeId) ?? '') + text)
    emitted.push(...closeMessage(ledger, nativeId, true))
  }
  return emitted
}

/** Returns the complete message, or the rest of one that was cut off; undefined when all of it was emitted. */
export function remainderOf(
  { span: { cuts } }: AppServerState,
  id: string,
  whole: string,
): string | undefined {
  const cut = cuts.get(id)
  if (cut === undefined || !whole.startsWith(cut)) return whole
  cuts.delete(id)
  return whole.length === cut.length ? undefined : whole.slice(cut.length)
}
