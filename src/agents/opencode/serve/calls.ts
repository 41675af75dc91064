import type { Said } from '../../agent.ts'
import { type Fields, fields, text } from '../../fields.ts'
import { closeMessage } from '../../messages.ts'
import { finishTool, startTool } from '../../tools.ts'
import { changesOf, childOf } from '../effects.ts'
import { kindOf, resultOf, titleOf } from '../tools.ts'
import { startedId } from './call-ids.ts'
import { type Part, partOf, type State } from './state.ts'
import { adoptChild, announce, type Thread } from './thread.ts'

/** A call: pending (a draft), running (its input is whole, its output grows), then completed or error. */
export function decodeCall(state: State, thread: Thread, native: Fields, id: string): Said[] {
  const part = partOf(state, thread, id, 'tool')
  const call = fields(native, 'state')
  const status = text(call, 'status')
  if (status === 'pending' || part.kind !== 'tool') return []
  const said = part.toolId === '' ? [...completeEarlier(state, part), start(state, thread, native, part)] : []
  said.push(...linkChild(state, thread, call, part))
  if (status === 'running') {
    said.push(...progress(call, part))
    return said
  }
  part.done = true
  said.push(...retitle(call, part))
  part.output = ''
  const refusedBy = state.ledger.tools.get(part.toolId)?.refusedBy ?? 'person'
  const result = resultOf(text(native, 'tool') ?? '?', call, refusedBy)
  said.push(...finishTool(state.ledger, part.toolId, result, changesOf(call)))
  return said
}

function start(state: State, thread: Thread, native: Fields, part: Part): Said {
  const { ledger } = state
  const call = fields(native, 'state')
  const name = text(native, 'tool') ?? '?'
  part.toolId = startedId(state, thread, text(native, 'callID') ?? text(native, 'id') ?? '')
  part.title = titleOf(call)
  return startTool(ledger, {
    toolId: part.toolId,
    name,
    kind: kindOf(name, state.mcpServers),
    title: part.title,
    input: call.input,
    parent: thread.speaker,
  })
}

/** Many providers end a text only when the whole response ends, while a call that follows it runs already. */
function completeEarlier(state: State, { speaker, order }: Part): Said[] {
  const said: Said[] = []
  for (const [, { nativeId, text, parent }] of state.ledger.messages) {
    const words = state.parts.get(nativeId)
    if (!words || parent !== speaker || words.order > order) continue
    words.completed += text
    said.push(...closeMessage(state.ledger, nativeId))
  }
  return said
}

/** A `task` names the session its sub-agent works in. */
function linkChild(state: State, thread: Thread, call: Fields, part: Part): Said[] {
  const child = childOf(call)
  if (!child) return []
  const { id, ...more } = child
  const known = state.threads.get(id) ?? adoptChild(state, id, thread, titleOf(call) ?? id)
  return announce(state, known, { toolId: part.toolId, ...more })
}

/** Snapshots of the output hold all of it so far; only what is new is worth an event. */
function progress(call: Fields, part: Part): Said[] {
  const said = retitle(call, part)
  const output = text(fields(call, 'metadata'), 'output') ?? ''
  if (output.length <= part.output.length || !output.startsWith(part.output)) return said
  said.push({ type: 'tool.progressed', toolId: part.toolId, output: output.slice(part.output.length) })
  part.output = output
  return said
}

function retitle(call: Fields, part: Part): Said[] {
  const title = text(call, 'title')
  if (!title || title === part.title) return []
  part.title = title
  return [{ type: 'tool.updated', toolId: part.toolId, title }]
}
