import type { Location } from '../../model/index.ts'
import type { Said } from '../agent.ts'
import {
  asAmount,
  asInt,
  asText,
  compact,
  type Fields,
  fields,
  isFields,
  list,
  only,
  text,
  texts,
} from '../fields.ts'
import { finishTool, type Ledger, openToolId, startTool, type ToolResult, type ToolStart } from '../ledger.ts'
import { ruleTable } from '../rules.ts'
import { endedAgents, receiversOf } from './subagents.ts'
import { changesOf, contentText, mcpResult, statusOf } from './tools.ts'

/** Where an item is in its life. */
export type Phase = 'started' | 'updated' | 'completed'

type Result = Pick<Partial<ToolResult>, 'output' | 'error' | 'exitCode' | 'data'>

/** A kind of item that is a tool call: how its start and its result read. */
interface CallRule {
  start(item: Fields, toolId: string, parent: string | undefined): ToolStart
  resultOf?(item: Fields): Result
}

const NO_RESULT: Result = {}

/** Named by us and not by the item: a name that was just read is one more string for every call. */
const command = (name: string): CallRule => ({
  start(item, toolId, parent) {
    const line = asText(item.command)
    const cwd = asText(item.cwd)
    // By far the most frequent call: `codex exec` tells no folder.
    const input =
      cwd === undefined && line !== undefined ? { command: line } : compact({ command: line, cwd })
    return { toolId, name, kind: 'execute', title: line, input, parent }
  },
  resultOf: (item) => ({
    output: asText(item.aggregatedOutput) ?? asText(item.aggregated_output),
    exitCode: asInt(item.exitCode) ?? asInt(item.exit_code),
  }),
})

const fileChange = (name: string): CallRule => ({
  start(item, toolId, parent) {
    const changes = list(item, 'changes')
    const locations = only(changes, hasPath).map(({ path }): Location => ({ path }))
    const title = locations.length === 1 ? locations[0]?.path : locations.map(({ path }) => path).join(', ')
    return { toolId, name, kind: 'edit', title, input: { changes }, locations, parent }
  },
})

function hasPath(change: unknown): change is { path: string } {
  return isFields(change) && typeof change.path === 'string'
}

/** Tools of servers are named with them. */
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
    const query = text(item, 'query')
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
}

const dynamic: CallRule = {
  start(item, toolId, parent) {
    const name = nameIn(text(item, 'namespace'), item)
    return { toolId, name, kind: 'other', input: item.arguments, parent }
  },
  resultOf: (item) => (Array.isArray(item.contentItems) ? { output: contentText(item.contentItems) } : {}),
}

const imageView: CallRule = {
  start(item, toolId, parent) {
    const path = text(item, 'path') ?? '?'
    const locations = [{ path }]
    return { toolId, name: 'imageView', kind: 'read', title: path, input: { path }, locations, parent }
  },
}

const ruleOf = ruleTable<CallRule>({
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
})

/** What an item says as a tool call; nothing when it is none. */
export function decodeCall(
  ledger: Ledger,
  phase: Phase,
  id: string,
  item: Fields,
  parent?: string,
): Said[] | undefined {
  const rule = ruleOf(item.type)
  if (!rule) return undefined
  const open = openToolId(ledger, id)
  if (open !== undefined) return phase === 'completed' ? endCall(ledger, rule, id, open, item) : []
  // An end without a start is told whole; what comes after an end says nothing.
  if (phase !== 'started' && ledger.closedTools.has(id)) return []
  const started = startTool(ledger, rule.start(item, id, parent))
  return phase === 'completed' ? [started, ...endCall(ledger, rule, id, undefined, item)] : [started]
}

function endCall(ledger: Ledger, rule: CallRule, id: string, open: string | undefined, item: Fields): Said[] {
  const result = rule.resultOf?.(item) ?? NO_RESULT
  const refusedBy = open === undefined ? undefined : ledger.tools.get(open)?.refusedBy
  const ended = statusOf(item, result)
  // Codex tells that a call was refused; by whom, only who answered it knows.
  const status = refusedBy && ended !== 'success' ? 'denied' : ended
  const deniedBy = status === 'denied' ? (refusedBy ?? 'policy') : undefined
  const { output, error, exitCode, data } = result
  const durationMs = asAmount(item.durationMs)
  return finishTool(
    ledger,
    id,
    { status, output, error, exitCode, data, deniedBy, durationMs },
    changesOf(item),
  )
}
