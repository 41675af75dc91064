import type { Location, ToolKind } from '../../model/index.ts'
import { type Fields, firstText, isFields, list, number, text, texts } from '../kit/fields.ts'
import { ruleTable } from '../kit/rules.ts'
import type { ToolTable } from '../kit/tool-names.ts'
import type { FileChange } from '../kit/tools.ts'

/** The call by which Claude requests to leave plan mode. */
export const EXIT_PLAN = 'ExitPlanMode'

const KINDS: Readonly<Record<string, ToolKind>> = {
  Read: 'read',
  NotebookRead: 'read',
  Write: 'edit',
  Edit: 'edit',
  NotebookEdit: 'edit',
  Grep: 'search',
  Glob: 'search',
  WebSearch: 'search',
  ToolSearch: 'search',
  Bash: 'execute',
  PowerShell: 'execute',
  Monitor: 'execute',
  WebFetch: 'fetch',
  TodoWrite: 'think',
  TaskCreate: 'think',
  TaskUpdate: 'think',
  TaskList: 'think',
  TaskGet: 'think',
  // The handshake lists the sub-agent tool as Task, the model calls it Agent.
  Task: 'task',
  Agent: 'task',
}

/** Tools without a kind. A tool list with any other name is rejected. */
const OTHERS = [
  ...['AskUserQuestion', 'EnterPlanMode', EXIT_PLAN, 'EnterWorktree', 'ExitWorktree', 'StructuredOutput'],
  ...['CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup', 'SendMessage', 'ListAgents'],
  ...['BashOutput', 'KillShell', 'KillBash', 'TaskOutput', 'TaskStop', 'Workflow', 'ReportFindings'],
  ...['Skill', 'SlashCommand', 'LSP', 'ListMcpResourcesTool', 'ReadMcpResourceTool'],
]

const kinds = ruleTable<ToolKind>(KINDS)

export const TOOLS: ToolTable = {
  agent: 'claude',
  kinds: new Map([...Object.entries(KINDS), ...OTHERS.map((name): [string, ToolKind] => [name, 'other'])]),
  mcpName: ({ server, tool }) => `mcp__${server}__${tool ?? '*'}`,
  mcpTool(name) {
    const [, server, tool] = /^mcp__(.+?)(?:__(.+))?$/.exec(name) ?? []
    if (server === undefined) return undefined
    return tool === undefined || tool === '*' ? { server } : { server, tool }
  },
  // A rule: some uses of a tool.
  accepts(name) {
    const [, tool = ''] = /^(\w+)\(.+\)$/.exec(name) ?? []
    return KINDS[tool] !== undefined || OTHERS.includes(tool)
  },
}

export function kindOf(name: string): ToolKind {
  return kinds(name) ?? (name.startsWith('mcp__') ? 'mcp' : 'other')
}

/** The argument to show next to the tool's name. */
export const titleOf = firstText(
  'command',
  'file_path',
  'notebook_path',
  'pattern',
  'url',
  'query',
  'subject',
  'description',
)

/** The file of a call, and the path that required the request, if any. */
export function locationsOf(input: unknown, blockedPath?: string): Location[] {
  const path = isFields(input) ? (text(input, 'file_path') ?? text(input, 'notebook_path')) : undefined
  const paths = new Set([path, blockedPath])
  return [...paths].flatMap((one) => (one === undefined ? [] : [{ path: one }]))
}

/** The file of a structured result. */
export function pathIn(result: Fields): string | undefined {
  return text(result, 'filePath') ?? text(result, 'notebook_path')
}

/** File tools report their changes in the structured result. */
export function fileChange(result: Fields): FileChange[] {
  const path = text(result, 'filePath')
  if (path === undefined) return notebookChange(result)
  if (!Array.isArray(result.structuredPatch)) return []
  const before = text(result, 'originalFile')
  // Only an Edit does not report whether it created the file: a replaced text implies that it existed.
  const wasThere = result.type === 'update' || before !== undefined || Boolean(text(result, 'oldString'))
  const created = result.type === 'create' || !wasThere
  const after = text(result, 'content') ?? edited(result, before)
  const diff = unifiedDiff(list(result, 'structuredPatch'))
  return [
    {
      path,
      change: created ? 'created' : 'modified',
      ...(diff !== '' && { diff }),
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    },
  ]
}

/** A notebook result contains the whole file before and after. */
function notebookChange(result: Fields): FileChange[] {
  const path = text(result, 'notebook_path')
  const after = text(result, 'updated_file')
  if (path === undefined || after === undefined || text(result, 'error')) return []
  const before = text(result, 'original_file')
  return [{ path, change: 'modified', ...(before !== undefined && { before }), after }]
}

/** An Edit reports the replaced strings, not the resulting file. */
function edited(result: Fields, before: string | undefined): string | undefined {
  const from = text(result, 'oldString')
  const to = text(result, 'newString')
  // An edit of an empty string in an empty file creates the whole content.
  if (from === '' && !before) return to
  if (before === undefined || !from || to === undefined) return undefined
  if (result.replaceAll === true) return before.split(from).join(to)
  const at = before.indexOf(from)
  return at < 0 ? undefined : before.slice(0, at) + to + before.slice(at + from.length)
}

function unifiedDiff(hunks: readonly unknown[]): string {
  let diff = ''
  for (const hunk of hunks) {
    if (!isFields(hunk)) continue
    const range = (side: string) =>
      `${number(hunk, `${side}Start`) ?? 0},${number(hunk, `${side}Lines`) ?? 0}`
    diff += `@@ -${range('old')} +${range('new')} @@\n`
    for (const line of texts(hunk, 'lines') ?? []) diff += `${line}\n`
  }
  return diff
}

/** Shell results start with their exit code when it is not 0. */
export function exitCodeIn(output: string): number | undefined {
  const match = /^Exit code (\d{1,3})\b/.exec(output)
  return match ? Number(match[1]) : undefined
}
