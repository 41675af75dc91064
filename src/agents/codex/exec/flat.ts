import type { Emitted } from '../../agent.ts'
import { type Fields, text } from '../../fields.ts'
import { addDelta, completeMessage } from '../../messages.ts'
import { ruleTable } from '../../rules.ts'
import { openToolId, progressTool } from '../../tools.ts'
import type { Phase } from '../calls.ts'
import { decodeItem } from './items.ts'
import { type FlatItem, madeId, type State } from './state.ts'

/**
 * The shape of items as some documents have it: flat, without ids, an item told in updates. No version of Codex
 * writes it; it is read all the same. Returns undefined for a kind that no rule knows.
 */
export function decodeFlatItem(state: State, phase: Phase, native: Fields): Emitted[] | undefined {
  const type = text(native, 'item_type') ?? '?'
  const before = state.flat.get(type)
  const item: FlatItem = {
    id: before?.id ?? madeId(state),
    fields: { ...before?.fields, ...native },
    emitted: before?.emitted ?? '',
  }
  if (phase === 'completed') state.flat.delete(type)
  else state.flat.set(type, item)
  const kind = type === 'agent_message' ? 'text' : type === 'reasoning' ? 'thinking' : undefined
  if (kind) return decodeMessage(state, kind, phase, item)
  return decodeOther(state, type, phase, item, before)
}

/** Dots at the end of an update stand for what is still to come: the next update has words in their place. */
const MORE = /(?:\.{3}|…)$/

/** Content is the text so far. An update that changes words that were said already waits for the whole text. */
function decodeMessage(state: State, kind: 'text' | 'thinking', phase: Phase, item: FlatItem): Emitted[] {
  const content = text(item.fields, 'content') ?? ''
  if (phase === 'completed') {
    // An answer without a word is an answer; a thought without one is none.
    if (content === '' && kind === 'thinking') return []
    if (kind === 'text' && content !== '') state.answer = content
    const partial = text(item.fields, 'status') === 'failed'
    return [completeMessage(state.ledger, kind, item.id, content, { partial })]
  }
  const words = content.replace(MORE, '')
  const emitted = words.startsWith(item.emitted) ? words.slice(item.emitted.length) : ''
  if (emitted === '') return []
  item.emitted = words
  return [addDelta(state.ledger, kind, item.id, emitted)]
}

function afterPrefix(content: string, before = ''): string {
  let same = 0
  while (same < before.length && content[same] === before[same]) same++
  return content.slice(same)
}

/** The field without which a call of this kind is not complete enough to be started. */
const neededBy = ruleTable<string>({
  command_execution: 'command_line',
  file_change: 'changes',
  mcp_tool_call: 'tool_name',
  web_search: 'query',
})

function decodeOther(
  state: State,
  type: string,
  phase: Phase,
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

/** The same item in the words that Codex really uses. */
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
