import type { FileChanged } from '../../../model/events/tool.ts'
import type { DeniedBy, Location, ToolKind } from '../../../model/index.ts'
import {
  compact,
  type Fields,
  fields,
  firstText,
  flag,
  int,
  isFields,
  list,
  objects,
  text,
} from '../../kit/fields.ts'
import type { LedgerTool } from '../../kit/ledger.ts'
import type { ToolTable } from '../../kit/tool-names.ts'
import { changeInDiff, type FileChange, type ToolResult } from '../../kit/tools.ts'
import { toolName } from '../tools.ts'

const KINDS: ReadonlyMap<string, ToolKind> = new Map([
  ['read', 'read'],
  ['edit', 'edit'],
  ['write', 'edit'],
  ['patch', 'edit'],
  ['glob', 'search'],
  ['grep', 'search'],
  ['websearch', 'search'],
  ['shell', 'execute'],
  ['webfetch', 'fetch'],
  ['subagent', 'task'],
  ['execute', 'other'],
  ['question', 'other'],
  ['skill', 'other'],
])

export const TOOLS: ToolTable = {
  agent: 'opencode',
  kinds: KINDS,
  aliases: new Map([
    ['bash', 'shell'],
    ['task', 'subagent'],
    ['apply_patch', 'patch'],
  ]),
  mcpName: ({ server, tool }) => `${toolName(server)}_${tool === undefined ? '*' : toolName(tool)}`,
  // `<server>_<tool>` does not show where the server name ends.
  mcpTool: () => undefined,
  // A tool of a server, or a permission such as external_directory.
  accepts: (name) => /^[\w.-]*\w_[\w.*-]*$/.test(name),
}

/** Tools of an MCP server are named `<server>_<tool>`, so only known servers can be recognised. */
export function kindOf(name: string, mcpServers: readonly string[]): ToolKind {
  const own = KINDS.get(name)
  if (own) return own
  return mcpServers.some((server) => name.startsWith(`${toolName(server)}_`)) ? 'mcp' : 'other'
}

/** The argument to show next to the tool's name. */
export const titleOf = firstText('command', 'path', 'pattern', 'url', 'query', 'description', 'name')

/** The file of a file tool. Its path may be relative to the directory of the session. */
export function locationsOf(name: string, input: Fields, cwd: string): Location[] | undefined {
  const path = KINDS.get(name) === 'edit' || name === 'read' ? text(input, 'path') : undefined
  return path === undefined ? undefined : [{ path: absolute(path, cwd) }]
}

export function absolute(path: string, cwd: string): string {
  return path.startsWith('/') || /^[a-zA-Z]:[\\/]/.test(path) ? path : `${cwd.replace(/\/+$/, '')}/${path}`
}

/** Reported in separate fields. */
const SEPARATE_FIELDS = new Set(['exit', 'truncated', 'files'])

/**
 * The result of a call that OpenCode reports as a success. A command with a non-zero exit code and a script that
 * failed are reported so too.
 */
export function successResult(name: string, data: Fields): ToolResult {
  const metadata = fields(data, 'metadata')
  const exit = int(metadata, 'exit')
  const more = Object.entries(metadata).filter(([key]) => !SEPARATE_FIELDS.has(key))
  const isFailed = (exit ?? 0) !== 0 || (name === 'execute' && flag(metadata, 'error'))
  return {
    status: isFailed ? 'error' : 'success',
    output: exit === undefined ? outputOf(data) : commandOutput(data),
    exitCode: exit,
    data: more.length > 0 ? Object.fromEntries(more) : undefined,
    truncated: flag(metadata, 'truncated') || undefined,
  }
}

/** The second part of the result of a command repeats its exit code in a sentence for the model. */
function commandOutput(data: Fields): string {
  return text(objects(data, 'content')[0] ?? {}, 'text') ?? ''
}

function outputOf(data: Fields): string {
  return list(data, 'content')
    .map((part) => (isFields(part) ? (text(part, 'text') ?? JSON.stringify(part)) : String(part)))
    .join('\n')
}

/** A denial without a message; one with a message looks like any other failure. */
const DECLINED = /^The user (?:declined|dismissed)/

/** Whether the failure of a call ends its execution because a request was denied. */
export function isDeclined(data: Fields, refusedBy: DeniedBy | undefined): boolean {
  const error = fields(data, 'error')
  if (text(error, 'type') !== 'aborted') return false
  return refusedBy !== undefined || DECLINED.test(text(error, 'message') ?? '')
}

/** A denial with a message is not recognisable in the event, so our own answer decides. */
export function failedResult(data: Fields, refusedBy: DeniedBy | undefined): ToolResult {
  const error = fields(data, 'error')
  const message = text(error, 'message')
  const details = fields(data, 'metadata')
  const more = {
    error: message,
    data: Object.keys(details).length > 0 ? details : undefined,
  }
  const isDenied = refusedBy !== undefined || isDeclined(data, refusedBy)
  if (isDenied) return { status: 'denied', deniedBy: refusedBy ?? 'person', ...more }
  if (/^Cannot use \S+ in Plan mode/.test(message ?? ''))
    return { status: 'denied', deniedBy: 'policy', ...more }
  return { status: text(error, 'type') === 'aborted' ? 'cancelled' : 'error', ...more }
}

const STATUSES: ReadonlyMap<string | undefined, FileChanged['change']> = new Map([
  ['added', 'created'],
  ['modified', 'modified'],
  ['deleted', 'deleted'],
  ['renamed', 'renamed'],
  ['moved', 'renamed'],
])

/** The file changes of a successful call. `write` reports no diff: its request and its input have the content. */
export function changesOf(
  { name, input }: LedgerTool,
  data: Fields,
  proposed: readonly Fields[],
): FileChange[] {
  const files = objects(fields(data, 'metadata'), 'files')
  if (files.length > 0) return files.flatMap(fileChange)
  if (name !== 'write') return []
  if (proposed.length > 0) return proposed.flatMap(fileChange)
  const given = fields({ input }, 'input')
  const path = text(given, 'path')
  const message = outputOf(data)
  if (path === undefined) return []
  const change = /^Created /.test(message) ? 'created' : 'modified'
  const isReported = /^(?:Created|Wrote|Updated|Overwrote|Edited) /.test(message)
  return [
    {
      path,
      change,
      ...(!isReported && { changeReported: false as const }),
      ...compact({ after: text(given, 'content') }),
    },
  ]
}

function fileChange(file: Fields): FileChange[] {
  const path = text(file, 'file')
  if (path === undefined) return []
  const diff = text(file, 'patch')
  const change = STATUSES.get(text(file, 'status'))
  const from = text(file, 'from')
  return [{ path, ...(change ? { change } : changeInDiff(diff ?? '')), ...compact({ diff, from }) }]
}
