import type { ToolStarted } from '../../model/events/tool.ts'
import type { DeniedBy } from '../../model/index.ts'
import type { Said } from '../agent.ts'
import { amount, compact, type Fields, fields, int, isFields, list, text, texts } from '../fields.ts'
import { finishTool, type Ledger, openToolId, startTool, type ToolResult } from '../ledger.ts'
import { ruleTable } from '../rules.ts'
import { endedAgents, receiversOf } from './subagents.ts'
import { changesOf, contentText, mcpResult, statusOf } from './tools.ts'

/** Where an item is in its life. */
export type Phase = 'started' | 'updated' | 'completed'

type Call = Pick<ToolStarted, 'name' | 'kind' | 'title' | 'input' | 'locations'>

/** A kind of item that is a tool call: how its start and its result read. */
export interface CallRule {
  describe(item: Fields): Call
  resultOf?(item: Fields): Partial<ToolResult>
}

const command: CallRule = {
  describe(item) {
    const line = text(item, 'command')
    return {
      name: text(item, 'type') ?? '?',
      kind: 'execute',
      ...compact({ title: line }),
      input: compact({ command: line, cwd: text(item, 'cwd') }),
    }
  },
  resultOf: (item) =>
    compact({
      output: text(item, 'aggregatedOutput') ?? text(item, 'aggregated_output'),
      exitCode: int(item, 'exitCode') ?? int(item, 'exit_code'),
    }),
}

const fileChange: CallRule = {
  describe(item) {
    const paths = list(item, 'changes').flatMap((change) =>
      isFields(change) ? (text(change, 'path') ?? []) : [],
    )
    return {
      name: text(item, 'type') ?? '?',
      kind: 'edit',
      title: paths.join(', '),
      input: { changes: list(item, 'changes') },
      locations: paths.map((path) => ({ path })),
    }
  },
}

const mcp: CallRule = {
  describe: (item) => ({
    name: [text(item, 'server'), text(item, 'tool') ?? '?'].filter(Boolean).join('.'),
    kind: 'mcp',
    ...(item.arguments !== undefined && { input: item.arguments }),
  }),
  resultOf: mcpResult,
}

const webSearch: CallRule = {
  describe(item) {
    const query = text(item, 'query')
    const action = fields(item, 'action')
    return {
      name: text(item, 'type') ?? '?',
      kind: 'search',
      ...compact({ title: query }),
      input: compact({
        query,
        action: text(action, 'type'),
        url: text(action, 'url'),
        pattern: text(action, 'pattern'),
        queries: texts(action, 'queries'),
      }),
    }
  },
  resultOf: (item) => (Array.isArray(item.results) ? { data: item.results } : {}),
}

const collab: CallRule = {
  describe(item) {
    const prompt = text(item, 'prompt')
    const threads = receiversOf(item)
    return {
      name: text(item, 'tool') ?? '?',
      kind: 'task',
      ...compact({ title: prompt }),
      input: compact({
        prompt,
        agents: threads.length > 0 ? threads : undefined,
        model: text(item, 'model') || undefined,
        effort: text(item, 'reasoningEffort'),
      }),
    }
  },
  resultOf(item) {
    const ended = endedAgents(item)
    return ended.length === 0 ? {} : { output: ended.map((one) => one.summary ?? one.status).join('\n') }
  },
}

const dynamic: CallRule = {
  describe: (item) => ({
    name: [text(item, 'namespace'), text(item, 'tool') ?? '?'].filter(Boolean).join('.'),
    kind: 'other',
    ...(item.arguments !== undefined && { input: item.arguments }),
  }),
  resultOf: (item) => (Array.isArray(item.contentItems) ? { output: contentText(item.contentItems) } : {}),
}

const imageView: CallRule = {
  describe(item) {
    const path = text(item, 'path') ?? '?'
    return { name: 'imageView', kind: 'read', title: path, input: { path }, locations: [{ path }] }
  },
}

const ruleOf = ruleTable<CallRule>({
  command_execution: command,
  commandExecution: command,
  file_change: fileChange,
  fileChange,
  mcp_tool_call: mcp,
  mcpToolCall: mcp,
  web_search: webSearch,
  webSearch,
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
  const rule = ruleOf(text(item, 'type'))
  if (!rule) return undefined
  const said: Said[] = []
  const open = openToolId(ledger, id)
  // An end without a start is told whole; what comes after an end says nothing.
  if (open === undefined && (phase === 'started' || !ledger.closedTools.has(id))) {
    const call: Omit<ToolStarted, 'type'> = { toolId: id, ...rule.describe(item) }
    if (parent !== undefined) call.parent = parent
    said.push(startTool(ledger, call))
  }
  if (phase !== 'completed') return said
  const result = rule.resultOf?.(item) ?? {}
  const refusedBy = open === undefined ? undefined : ledger.tools.get(open)?.refusedBy
  const ended: ToolResult = { ...result, ...outcomeOf(item, result, refusedBy) }
  const durationMs = amount(item, 'durationMs')
  if (durationMs !== undefined) ended.durationMs = durationMs
  said.push(...finishTool(ledger, id, ended, changesOf(item)))
  return said
}

/** Codex tells that a call was refused; by whom, only who answered it knows. */
function outcomeOf(item: Fields, result: Partial<ToolResult>, by: DeniedBy | undefined) {
  const ended = statusOf(item, result)
  return by && ended.status !== 'success' ? { status: 'denied' as const, deniedBy: by } : ended
}
