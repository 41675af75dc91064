import type { Location, ToolKind } from '../../model/index.ts'
import type { Emitted } from '../agent.ts'
import {
  asAmount,
  asFields,
  asInt,
  asText,
  compact,
  type Fields,
  fields,
  isFields,
  list,
  sameValue,
  text,
  texts,
} from '../kit/fields.ts'
import type { Ledger } from '../kit/ledger.ts'
import {
  type FileChange,
  finishTool,
  hasOmission,
  openToolId,
  startTool,
  type ToolResult,
  type ToolStart,
} from '../kit/tools.ts'
import type { Declined } from './refusals.ts'
import { endedAgents, receiversOf } from './subagents.ts'
import { changeOf, changesOf, contentText, mcpResult, statusOf } from './tools.ts'

/** The phase of an item. */
export type ItemPhase = 'started' | 'updated' | 'completed'

type CallResult = Pick<
  Partial<ToolResult>,
  'output' | 'error' | 'exitCode' | 'data' | 'durationMs' | 'truncated'
>

/**
 * Rules for an item kind that is a tool call: its start and its result. Each reads only its own fields, because lookups
 * of fields that few items have are slow.
 */
export interface CallRule {
  start(item: Fields, toolId: string, parent: string | undefined): ToolStart
  resultOf?(item: Fields): CallResult
  changesOf?(item: Fields): readonly FileChange[]
  /** Its input may be reported only while it runs, or at its end. */
  grows?: true
  /** The call concerns sub-agents, which it starts or finds ended. */
  agents?: true
}

const NO_RESULT: CallResult = {}

/** The state that both programs keep for their calls. */
interface CallsState {
  readonly ledger: Ledger
  readonly declined: Declined
}

/** The name is a constant, because reading it from the item would allocate a string per call. */
const command = (name: string): CallRule => ({
  start(item, toolId, parent) {
    const line = asText(item.command)
    const cwd = asText(item.cwd)
    // The most frequent call: `codex exec` reports no directory.
    const input =
      cwd === undefined && line !== undefined ? { command: line } : compact({ command: line, cwd })
    return { toolId, name, kind: 'execute', title: line, input, parent }
  },
  resultOf(item) {
    const output = asText(item.aggregatedOutput) ?? asText(item.aggregated_output)
    return {
      output,
      exitCode: asInt(item.exitCode) ?? asInt(item.exit_code),
      durationMs: asAmount(item.durationMs),
      truncated: hasOmission(output) || undefined,
    }
  },
})

const fileChange = (name: string): CallRule => ({
  start(item, toolId, parent) {
    const changes = list(item, 'changes')
    const locations: Location[] = []
    let kind: ToolKind = 'edit'
    for (const native of changes) {
      if (!isFields(native) || typeof native.path !== 'string') continue
      const { change, from, path } = changeOf(native)
      // A deletion takes precedence, because it matters most for approval. A move affects two locations.
      if (change === 'deleted') kind = 'delete'
      else if (change === 'renamed' && kind === 'edit') kind = 'move'
      if (from !== undefined) locations.push({ path: from })
      locations.push({ path })
    }
    const title = locations.length === 1 ? locations[0]?.path : locations.map(({ path }) => path).join(', ')
    return { toolId, name, kind, title, input: { changes }, locations, parent }
  },
  changesOf,
})

/** Tools of servers are named with their server. */
function nameIn(owner: string | undefined, item: Fields): string {
  const tool = text(item, 'tool') ?? '?'
  return owner ? `${owner}.${tool}` : tool
}

const mcp: CallRule = {
  start(item, toolId, parent) {
    return { toolId, name: nameIn(text(item, 'server'), item), kind: 'mcp', input: item.arguments, parent }
  },
  resultOf: mcpResult,
}

const webSearch = (name: string): CallRule => ({
  start(item, toolId, parent) {
    // Empty until the model has chosen a query.
    const query = text(item, 'query') || undefined
    const action = fields(item, 'action')
    return {
      toolId,
      name,
      kind: 'search',
      title: query,
      input: compact({
        query,
        action: text(action, 'type'),
        url: text(action, 'url'),
        pattern: text(action, 'pattern'),
        queries: texts(action, 'queries'),
      }),
      parent,
    }
  },
  resultOf: (item) => (Array.isArray(item.results) ? { data: item.results } : {}),
  grows: true,
})

const collab: CallRule = {
  start(item, toolId, parent) {
    const prompt = text(item, 'prompt')
    const threads = receiversOf(item)
    return {
      toolId,
      name: text(item, 'tool') ?? '?',
      kind: 'task',
      title: prompt,
      input: compact({
        prompt,
        agents: threads.length > 0 ? threads : undefined,
        model: text(item, 'model') || undefined,
        effort: text(item, 'reasoningEffort'),
      }),
      parent,
    }
  },
  resultOf(item) {
    const ended = endedAgents(item)
    return ended.length === 0 ? {} : { output: ended.map((one) => one.summary ?? one.status).join('\n') }
  },
  agents: true,
}

const dynamic: CallRule = {
  start(item, toolId, parent) {
    const name = nameIn(text(item, 'namespace'), item)
    return { toolId, name, kind: 'other', input: item.arguments, parent }
  },
  resultOf: (item) => ({
    output: Array.isArray(item.contentItems) ? contentText(item.contentItems) : undefined,
    durationMs: asAmount(item.durationMs),
  }),
}

const imageView: CallRule = {
  start(item, toolId, parent) {
    const path = text(item, 'path') ?? '?'
    const locations = [{ path }]
    return { toolId, name: 'imageView', kind: 'read', title: path, input: { path }, locations, parent }
  },
}

/** By the item name in either program. */
export const callRules: Readonly<Record<string, CallRule>> = {
  command_execution: command('command_execution'),
  commandExecution: command('commandExecution'),
  file_change: fileChange('file_change'),
  fileChange: fileChange('fileChange'),
  mcp_tool_call: mcp,
  mcpToolCall: mcp,
  web_search: webSearch('web_search'),
  webSearch: webSearch('webSearch'),
  collab_tool_call: collab,
  collabAgentToolCall: collab,
  dynamicToolCall: dynamic,
  imageView,
}

/** Decodes an item as a tool call. */
export function decodeCall(
  state: CallsState,
  rule: CallRule,
  phase: ItemPhase,
  id: string,
  item: Fields,
  parent?: string,
): Emitted[] {
  const { ledger } = state
  const open = openToolId(ledger, id)
  if (open !== undefined) {
    if (!rule.grows) return phase === 'completed' ? endCall(state, rule, id, open, item) : []
    const grown = growCall(ledger, rule, open, item)
    return phase === 'completed' ? [...grown, ...endCall(state, rule, id, open, item)] : grown
  }
  // An end without a start is emitted as a whole; frames after an end are ignored.
  if (phase !== 'started' && ledger.closedTools.has(id)) return []
  const started = startTool(ledger, rule.start(item, id, parent))
  return phase === 'completed' ? [started, ...endCall(state, rule, id, undefined, item)] : [started]
}

/** Emits the input that the start did not contain. */
function growCall(ledger: Ledger, rule: CallRule, open: string, item: Fields): Emitted[] {
  const tool = ledger.tools.get(open)
  if (!tool) return []
  const { title, input } = rule.start(item, tool.nativeId, tool.parent)
  const whole = { ...asFields(tool.input), ...asFields(input) }
  if (sameValue(whole, tool.input)) return []
  tool.input = whole
  return [{ type: 'tool.updated', toolId: tool.toolId, ...compact({ title }), input: whole }]
}

function endCall(
  state: CallsState,
  rule: CallRule,
  id: string,
  open: string | undefined,
  item: Fields,
): Emitted[] {
  const { ledger } = state
  const result = rule.resultOf?.(item) ?? NO_RESULT
  const refusedBy = open === undefined ? undefined : ledger.tools.get(open)?.refusedBy
  const ended = statusOf(item, result)
  // Codex reports that a call was denied; only the side that answered knows by whom.
  const status = refusedBy && ended !== 'success' ? 'denied' : ended
  if (status === 'denied' && !refusedBy) state.declined.ended++
  const deniedBy = status === 'denied' ? (refusedBy ?? 'policy') : undefined
  const { output, error, exitCode, data, durationMs, truncated } = result
  const whole = { status, output, error, exitCode, data, deniedBy, durationMs, truncated }
  return finishTool(ledger, id, whole, rule.changesOf?.(item))
}
