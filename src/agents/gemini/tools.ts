import type { FileChanged } from '../../model/events/tool.ts'
import type { PlanItem } from '../../model/events/work.ts'
import type { ToolKind } from '../../model/index.ts'
import { compact, type Fields, fields, firstText, isFields, list, text } from '../kit/fields.ts'
import type { ToolTable } from '../kit/tool-names.ts'
import type { ToolResult } from '../kit/tools.ts'

/** Gemini's built-in tools. */
const KINDS: ReadonlyMap<string, ToolKind> = new Map([
  ['read_file', 'read'],
  ['read_many_files', 'read'],
  ['write_file', 'edit'],
  ['replace', 'edit'],
  ['grep_search', 'search'],
  ['glob', 'search'],
  ['list_directory', 'search'],
  ['google_web_search', 'search'],
  ['run_shell_command', 'execute'],
  ['web_fetch', 'fetch'],
  ['write_todos', 'think'],
  ['update_topic', 'think'],
  ['tracker_create_task', 'think'],
  ['tracker_update_task', 'think'],
  ['tracker_get_task', 'think'],
  ['tracker_list_tasks', 'think'],
  ['tracker_add_dependency', 'think'],
  ['tracker_visualize', 'think'],
  ['invoke_agent', 'task'],
  ['list_background_processes', 'other'],
  ['read_background_output', 'other'],
  ['enter_plan_mode', 'other'],
  ['exit_plan_mode', 'other'],
  ['activate_skill', 'other'],
  ['ask_user', 'other'],
  ['get_internal_docs', 'other'],
  ['read_mcp_resource', 'other'],
  ['list_mcp_resources', 'other'],
])

const MCP = 'mcp_'

export const TOOLS: ToolTable = {
  agent: 'gemini',
  kinds: KINDS,
  mcpName: ({ server, tool }) => `${MCP}${server}_${tool ?? '*'}`,
  // Names of servers contain no "_", because the rest would be parsed as the tool.
  mcpTool(name) {
    const [, server, tool] = /^mcp_([^_]+)_(.+)$/.exec(name) ?? []
    if (server === undefined || tool === undefined) return undefined
    return tool === '*' ? { server } : { server, tool }
  },
  // A rule: commands with this prefix.
  accepts: (name) => /^run_shell_command\(.+\)$/.test(name),
}

export function kindOf(name: string): ToolKind {
  return KINDS.get(name) ?? (name.startsWith(MCP) ? 'mcp' : 'other')
}

/** The argument to show next to the tool's name. */
export const titleOf = firstText('command', 'file_path', 'dir_path', 'pattern', 'url', 'query', 'agent_name')

/** Gemini's denial messages when it cannot request approval. */
const REFUSALS = ['requires user confirmation', 'Access denied: plan path']

/** The output of a command that Gemini refused to run, and reports as a success. */
const BLOCKED = 'Blocked: command substitution detected in shell command.'

export function statusOf(name: string, native: Fields): Pick<ToolResult, 'status' | 'deniedBy'> {
  if (text(native, 'status') === 'success')
    return { status: text(native, 'output') === BLOCKED ? 'error' : 'success' }
  if (text(native, 'status') === 'cancelled') return { status: 'cancelled' }
  const error = fields(native, 'error')
  const type = text(error, 'type')
  const message = text(error, 'message') ?? ''
  // An approval mode removes the tools that would need approval: an unregistered known tool was denied.
  const takenAway = type === 'tool_not_registered' && (KINDS.has(name) || name.startsWith(MCP))
  const refused = type === 'policy_violation' || REFUSALS.some((words) => message.includes(words))
  return takenAway || refused ? { status: 'denied', deniedBy: 'policy' } : { status: 'error' }
}

/** The plan in the input of `write_todos`; a cancelled item is not part of the plan. */
export function planOf(name: string, input: unknown): PlanItem[] | undefined {
  if (name !== 'write_todos' || !isFields(input)) return undefined
  const items: PlanItem[] = []
  for (const todo of list(input, 'todos')) {
    const status = isFields(todo) ? text(todo, 'status') : undefined
    if (!isFields(todo) || status === 'cancelled') continue
    const known = status === 'in_progress' || status === 'completed' ? status : 'pending'
    items.push({ text: text(todo, 'description') ?? '', status: known })
  }
  return items
}

export type WrittenFile = Pick<FileChanged, 'path' | 'change' | 'changeReported' | 'after'>

/** The file that a call reads or writes, as an absolute path. */
export function fileOf(input: unknown, cwd: string): string | undefined {
  const path = isFields(input) ? text(input, 'file_path') : undefined
  // Without a directory, as in a file of lines, the path stays unchanged.
  if (path === undefined || cwd === '' || /^(?:[A-Za-z]:)?[\\/]/.test(path)) return path
  return `${cwd.replace(/\/$/, '')}/${path}`
}

/**
 * The file change of a call. The result of `write_file` does not tell whether the file existed, unless an earlier call
 * touched it.
 */
export function changeOf(
  name: string,
  input: unknown,
  path: string,
  exists: Existence,
): WrittenFile | undefined {
  if (!isFields(input)) return undefined
  // Replacing an empty string creates a file; the call fails if it exists.
  if (name === 'replace') return { path, change: text(input, 'old_string') ? 'modified' : 'created' }
  if (name !== 'write_file') return undefined
  const change: WrittenFile = { path, change: exists === 'unlikely' ? 'created' : 'modified' }
  if (exists !== 'certain') change.changeReported = false
  return { ...change, ...compact({ after: text(input, 'content') }) }
}

/** Whether a file existed before a call: an earlier call of this process, or of another one, may have touched it. */
export type Existence = 'certain' | 'likely' | 'unlikely'
