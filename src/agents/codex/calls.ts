import type { DeniedBy, Location } from '../../model/index.ts'
import type { Said } from '../agent.ts'
import { amount, compact, type Fields, fields, int, isFields, list, text, texts } from '../fields.ts'
import { finishTool, type Ledger, openToolId, startTool, type ToolResult, type ToolStart } from '../ledger.ts'
import { ruleTable } from '../rules.ts'
import { endedAgents, receiversOf } from './subagents.ts'
import { changesOf, contentText, mcpResult, statusOf } from './tools.ts'

/** Where an item is in its life. */
export type Phase = 'started' | 'updated' | 'completed'

type Outcome = Pick<ToolResult, 'status' | 'deniedBy'>
type Result = Pick<Partial<ToolResult>, 'output' | 'error' | 'exitCode' | 'data'>
type Call = Omit<ToolStart, 'toolId' | 'messageId' | 'parent'>

/** A kind of item that is a tool call: how its start and its result read. */
export interface CallRule {
  describe(item: Fields): Call
  resultOf?(item: Fields): Result
}

const NO_RESULT: Result = {}

/** Named by us and not by the item: a name that was just read is one more string for every call. */
const command = (name: string): CallRule => ({
  describe(item) {
    const line = text(item, 'command')
    const cwd = text(item, 'cwd')
    // By far the most frequent call: `codex exec` tells no folder.
    const input =
      cwd === undefined && line !== undefined ? { command: line } : compact({ command: line, cwd })
    return { name, kind: 'execute', title: line, input }
  },
  resultOf: (item) => ({
    output: text(item, 'aggregatedOutput') ?? text(item, 'aggregated_output'),
    exitCode: int(item, 'exitCode') ?? int(item, 'exit_code'),
  }),
})

const fileChange = (name: string): CallRule => ({
  describe(item) {
    const changes = list(item, 'changes')
    const locations: Location[] = []
    for (const change of changes) {
      const path = isFields(change) ? text(change, 'path') : undefined
      if (path !== undefined) locations.push({ path })
    }
    return {
      name,
      kind: 'edit',
      title: locations.map(({ path }) => path).join(', '),
      input: { changes },
      locations,
    }
  },
})

/** Tools of servers are named with them. */
function nameIn(owner: string | undefined, item: Fields): string {
  const tool = text(item, 'tool') ?? '?'
  return owner ? `${owner}.${tool}` : tool
}

const mcp: CallRule = {
  describe: (item) => ({
    name: nameIn(text(item, 'server'), item),
    kind: 'mcp',
    input: item.arguments,
  }),
  resultOf: mcpResult,
}

const webSearch = (name: string): CallRule => ({
  describe(item) {
    const query = text(item, 'query')
    const action = fields(item, 'action')
    return {
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
    }
  },
  resultOf: (item) => (Array.isArray(item.results) ? { data: item.results } : {}),
})

const collab: CallRule = {
  describe(item) {
    const prompt = text(item, 'prompt')
    const threads = receiversOf(item)
    return {
      name: text(item, 'tool') ?? '?',
      kind: 'task',
      title: prompt,
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
    name: nameIn(text(item, 'namespace'), item),
    kind: 'other',
    input: item.arguments,
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
  const { name, kind, title, input, locations } = rule.describe(item)
  const started = startTool(ledger, { toolId: id, name, kind, title, input, locations, parent })
  return phase === 'completed' ? [started, ...endCall(ledger, rule, id, undefined, item)] : [started]
}

function endCall(ledger: Ledger, rule: CallRule, id: string, open: string | undefined, item: Fields): Said[] {
  const result = rule.resultOf?.(item) ?? NO_RESULT
  const refusedBy = open === undefined ? undefined : ledger.tools.get(open)?.refusedBy
  const { status, deniedBy } = outcomeOf(item, result, refusedBy)
  const { output, error, exitCode, data } = result
  const durationMs = amount(item, 'durationMs')
  return finishTool(
    ledger,
    id,
    { status, output, error, exitCode, data, deniedBy, durationMs },
    changesOf(item),
  )
}

/** Codex tells that a call was refused; by whom, only who answered it knows. */
function outcomeOf(item: Fields, result: Result, by: DeniedBy | undefined): Outcome {
  const ended = statusOf(item, result)
  return by && ended.status !== 'success' ? { status: 'denied', deniedBy: by } : ended
}
