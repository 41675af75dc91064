import type { Emitted } from '../../agent.ts'
import { type Fields, fields, text } from '../../kit/fields.ts'
import { closeMessage } from '../../kit/messages.ts'
import { finishTool, startTool } from '../../kit/tools.ts'
import { changesOf, childOf } from '../effects.ts'
import { announce, type SessionThread } from '../threads.ts'
import { kindOf, resultOf, titleOf } from '../tools.ts'
import { startedId } from './call-ids.ts'
import { openHeld } from './requests.ts'
import { adoptChild, partOf, type ServePart, type ServeState } from './state.ts'

/** A call: pending (a draft), running (complete input, growing output), then completed or error. */
export function decodeCall(state: ServeState, thread: SessionThread, native: Fields, id: string): Emitted[] {
  const part = partOf(state, thread, id, 'tool')
  const call = fields(native, 'state')
  const status = text(call, 'status')
  if (status === 'pending' || part.kind !== 'tool') return []
  const emitted = part.toolId === '' ? begin(state, thread, native, part) : []
  emitted.push(...linkChild(state, thread, call, part))
  if (status === 'running') {
    emitted.push(...progress(call, part))
    return emitted
  }
  part.done = true
  emitted.push(...retitle(call, part))
  part.output = ''
  const refusedBy = state.ledger.tools.get(part.toolId)?.refusedBy ?? 'person'
  const result = resultOf(text(native, 'tool') ?? '?', call, refusedBy)
  emitted.push(...finishTool(state.ledger, part.toolId, result, changesOf(call)))
  return emitted
}

function begin(state: ServeState, thread: SessionThread, native: Fields, part: ServePart): Emitted[] {
  const earlier = completeEarlier(state, part)
  const call = fields(native, 'state')
  const name = text(native, 'tool') ?? '?'
  const callId = text(native, 'callID') ?? text(native, 'id') ?? ''
  part.toolId = startedId(state, thread, callId)
  part.title = titleOf(call)
  const started = startTool(state.ledger, {
    toolId: part.toolId,
    name,
    kind: kindOf(name, state.mcpServers),
    title: part.title,
    input: call.input,
    parent: thread.speaker,
  })
  return [...earlier, started, ...openHeld(state, thread, callId)]
}

/** Many providers end a text only with the whole response, while a later call already runs. */
function completeEarlier(state: ServeState, { speaker, order }: ServePart): Emitted[] {
  const emitted: Emitted[] = []
  for (const [, { nativeId, text, parent }] of state.ledger.messages) {
    const textPart = state.turn.parts.get(nativeId)
    if (!textPart || parent !== speaker || textPart.order > order) continue
    textPart.completed += text
    emitted.push(...closeMessage(state.ledger, nativeId))
  }
  return emitted
}

/** A `task` names the session of its sub-agent. */
function linkChild(state: ServeState, thread: SessionThread, call: Fields, part: ServePart): Emitted[] {
  const child = childOf(call)
  if (!child) return []
  const { id, ...more } = child
  const known = state.threads.get(id) ?? adoptChild(state, id, thread, titleOf(call) ?? id)
  return announce(state, known, { toolId: part.toolId, ...more })
}

/** Snapshots contain the whole output so far; only the new part is emitted. */
function progress(call: Fields, part: ServePart): Emitted[] {
  const emitted = retitle(call, part)
  const output = text(fields(call, 'metadata'), 'output') ?? ''
  if (output.length <= part.output.length || !output.startsWith(part.output)) return emitted
  emitted.push({ type: 'tool.progressed', toolId: part.toolId, output: output.slice(part.output.length) })
  part.output = output
  return emitted
}

function retitle(call: Fields, part: ServePart): Emitted[] {
  const title = text(call, 'title')
  if (!title || title === part.title) return []
  part.title = title
  return [{ type: 'tool.updated', toolId: part.toolId, title }]
}
