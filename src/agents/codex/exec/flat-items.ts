import type { Emitted } from '../../agent.ts'
import { type Fields, text } from '../../kit/fields.ts'
import { addDelta, completeMessage } from '../../kit/messages.ts'
import { ruleTable } from '../../kit/rules.ts'
import { openToolId, progressTool } from '../../kit/tools.ts'
import type { ItemPhase } from '../calls.ts'
import { decodeItem } from './items.ts'
import { type ExecState, type FlatItem, generateId } from './state.ts'

/**
 * The item format of some documents: flat, without ids, one item in several updates. No version of Codex writes it, but
 * it is supported. Returns undefined for an unknown kind.
 */
export function decodeFlatItem(state: ExecState, phase: ItemPhase, native: Fields): Emitted[] | undefined {
  const type = text(native, 'item_type') ?? '?'
  const before = state.flat.get(type)
  const item: FlatItem = {
    id: before?.id ?? generateId(state),
    fields: { ...before?.fields, ...native },
    emitted: before?.emitted ?? '',
  }
  if (phase === 'completed') state.flat.delete(type)
  else state.flat.set(type, item)
  const kind = type === 'agent_message' ? 'text' : type === 'reasoning' ? 'thinking' : undefined
  if (kind) return decodeMessage(state, kind, phase, item)
  return decodeOther(state, type, phase, item, before)
}

/** Trailing dots of an update are a placeholder: the next update has text in their place. */
const MORE = /(?:\.{3}|…)$/

/** `content` is the text so far. An update that changes emitted text is held back until the complete text. */
function decodeMessage(
  state: ExecState,
  kind: 'text' | 'thinking',
  phase: ItemPhase,
  item: FlatItem,
): Emitted[] {
  const content = text(item.fields, 'content') ?? ''
  if (phase === 'completed') {
    // An empty answer is an answer; empty thinking is not emitted.
    if (content === '' && kind === 'thinking') return []
    if (kind === 'text' && content !== '') state.answer = content
    const partial = text(item.fields, 'status') === 'failed'
    return [completeMessage(state.ledger, kind, item.id, content, { partial })]
  }
  const stable = content.replace(MORE, '')
  const emitted = stable.startsWith(item.emitted) ? stable.slice(item.emitted.length) : ''
  if (emitted === '') return []
  item.emitted = stable
  return [addDelta(state.ledger, kind, item.id, emitted)]
}

function afterPrefix(content: string, before = ''): string {
  let same = 0
  while (same < before.length && content[same] === before[same]) same++
  return content.slice(same)
}

/** The field that a call of this kind needs before it can be started. */
const neededBy = ruleTable<string>({
  command_execution: 'command_line',
  file_change: 'changes',
  mcp_tool_call: 'tool_name',
  web_search: 'query',
})

function decodeOther(
  state: ExecState,
  type: string,
  phase: ItemPhase,
  item: FlatItem,
  before: FlatItem | undefined,
): Emitted[] | undefined {
  const { fields: flat, id } = item
  const needed = neededBy(type)
  if (needed !== undefined && phase !== 'completed' && flat[needed] === undefined) return []
  const emitted = decodeItem(state, phase, id, nested(type, flat))
  if (!emitted || phase === 'completed' || openToolId(state.ledger, id) === undefined) return emitted
  const output = afterPrefix(outputOf(flat) ?? '', before && outputOf(before.fields))
  return output === '' ? emitted : [...emitted, ...progressTool(state.ledger, id, { output })]
}

function outputOf(flat: Fields): string | undefined {
  return text(flat, 'aggregated_output') ?? text(flat, 'tool_result')
}

/** Converts the item to the format that Codex really uses. */
function nested(type: string, flat: Fields): Fields {
  const status = text(flat, 'status') === 'failed' ? 'failed' : 'completed'
  return {
    ...flat,
    type,
    status,
    command: flat.command_line,
    tool: flat.tool_name,
    arguments: flat.tool_input,
    result: flat.tool_result,
    message: flat.message ?? flat.content,
  }
}
