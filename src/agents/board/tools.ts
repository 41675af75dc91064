import { type ToolKind, ToolStatus } from '../../model/index.ts'
import { type Fields, firstText, text } from '../kit/fields.ts'
import type { ToolResult } from '../kit/tools.ts'

/** A board forwards the tool names of the agent that it runs. */
const NAMES: readonly (readonly [ToolKind, readonly string[]])[] = [
  ['read', ['Read', 'NotebookRead', 'read_file', 'read', 'read_many_files']],
  ['edit', ['Write', 'Edit', 'NotebookEdit', 'write_file', 'replace', 'write', 'edit', 'apply_patch']],
  ['edit', ['fileChange', 'file_change']],
  ['search', ['Grep', 'Glob', 'WebSearch', 'grep_search', 'glob', 'list_directory', 'google_web_search']],
  ['search', ['list', 'web_search']],
  ['execute', ['Bash', 'run_shell_command', 'bash', 'command_execution', 'commandExecution']],
  ['fetch', ['WebFetch', 'web_fetch', 'webfetch']],
  ['think', ['TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskList', 'TaskGet']],
  ['think', ['todowrite', 'write_todos', 'update_topic']],
  ['task', ['Task', 'Agent', 'task', 'invoke_agent', 'collab_tool_call', 'collabAgentToolCall']],
  ['mcp', ['mcpToolCall']],
]

const KINDS: ReadonlyMap<string, ToolKind> = new Map(
  NAMES.flatMap(([kind, names]) => names.map((name) => [name, kind])),
)

export function kindOf(name: string): ToolKind {
  return KINDS.get(name) ?? (name.startsWith('mcp_') ? 'mcp' : 'other')
}

/** The argument to show next to the tool's name. */
export const titleOf = firstText('command', 'file_path', 'path', 'pattern', 'url', 'query', 'description')

/** Returns whether a call's input refers to this file. Paths may be relative to another directory. */
export function refersTo(input: unknown, file: string): boolean {
  if (typeof input === 'string') return input.includes(file) || (input !== '' && file.endsWith(`/${input}`))
  if (typeof input !== 'object' || input === null) return false
  return Object.values(input).some((value) => refersTo(value, file))
}

export function resultOf(payload: Fields): ToolResult {
  const { output } = payload
  const status = statusOf(payload)
  const error = text(payload, 'error')
  return typeof output === 'string' ? { status, output, error } : { status, error, data: output }
}

const FAILURES: ReadonlySet<unknown> = new Set(ToolStatus.exclude(['success']).options)

/** A Mainstem board reports the exact status of a call that failed, and of one whose end it does not know. */
function isFailure(word: unknown): word is ToolStatus {
  return FAILURES.has(word)
}

function statusOf({ success, status }: Fields): ToolStatus {
  if (success === true) return status === 'unknown' ? status : 'success'
  return isFailure(status) ? status : 'error'
}
