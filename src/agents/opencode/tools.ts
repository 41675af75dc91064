import type { DeniedBy, ToolKind } from '../../model/index.ts'
import { asFields, asText, type Fields, firstText, int, number } from '../kit/fields.ts'
import type { ToolTable } from '../kit/tool-names.ts'
import type { ToolResult } from '../kit/tools.ts'

const KINDS: ReadonlyMap<string, ToolKind> = new Map([
  ['read', 'read'],
  ['edit', 'edit'],
  ['write', 'edit'],
  ['patch', 'edit'],
  ['apply_patch', 'edit'],
  ['glob', 'search'],
  ['grep', 'search'],
  ['list', 'search'],
  ['websearch', 'search'],
  ['codesearch', 'search'],
  ['bash', 'execute'],
  ['webfetch', 'fetch'],
  ['todowrite', 'think'],
  ['todoread', 'think'],
  ['task', 'task'],
  ['question', 'other'],
  ['skill', 'other'],
  ['lsp', 'other'],
])

export const TOOLS: ToolTable = {
  agent: 'opencode',
  kinds: KINDS,
  mcpName: ({ server, tool }) => `${toolName(server)}_${tool === undefined ? '*' : toolName(tool)}`,
  // `<server>_<tool>` does not show where the server name ends.
  mcpTool: () => undefined,
  // A pattern of a known tool, a tool of a server, or a permission such as external_directory.
  accepts(name) {
    if (!/^[\w.*?-]+$/.test(name)) return false
    return /\w_/.test(name) || [...KINDS.keys()].some((tool) => matches(name, tool))
  },
}

/** OpenCode's matching: `*` and `?`, case-sensitive. */
function matches(pattern: string, tool: string): boolean {
  const source = pattern.replace(/[.-]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.')
  return new RegExp(`^${source}$`).test(tool)
}

/** Tools of an MCP server are named `<server>_<tool>`, so only known servers can be recognised. */
export function kindOf(name: string, mcpServers: readonly string[]): ToolKind {
  const own = KINDS.get(name)
  if (own) return own
  return mcpServers.some((server) => name.startsWith(`${toolName(server)}_`)) ? 'mcp' : 'other'
}

/** OpenCode's normalisation of a name for models. */
export function toolName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_')
}

/** The argument to show next to the tool's name. */
const titleIn = firstText('command', 'filePath', 'pattern', 'url', 'query', 'description', 'name')

export function titleOf(state: Fields): string | undefined {
  return asText(state.title) || titleIn(state.input)
}

/** Reported in separate fields. */
const SEPARATE_FIELDS = new Set(['output', 'exit', 'truncated', 'diff', 'filediff', 'files', 'todos'])

/** The result of a call. `refusedBy` is the decider where OpenCode reports only a denial. */
export function resultOf(name: string, state: Fields, refusedBy: DeniedBy): ToolResult {
  const metadata = asFields(state.metadata)
  const { start, end } = asFields(state.time)
  const took = typeof start === 'number' && typeof end === 'number' ? end - start : -1
  const { status, deniedBy } = statusOf(name, state, metadata, refusedBy)
  return {
    status,
    deniedBy,
    output: asText(state.output),
    error: asText(state.error),
    exitCode: int(metadata, 'exit'),
    durationMs: took >= 0 && Number.isFinite(took) ? took : undefined,
    data: dataOf(metadata),
    truncated: metadata.truncated === true || undefined,
  }
}

/** The metadata that no other field reports. */
function dataOf(metadata: Fields): Fields | undefined {
  const more = Object.entries(metadata).filter(([key]) => !SEPARATE_FIELDS.has(key))
  return more.length > 0 ? Object.fromEntries(more) : undefined
}

/** An old call whose output was pruned from the context: it is reported again, but nothing happened. */
export function isPruned(state: Fields): boolean {
  return asFields(state.time).compacted !== undefined
}

/** A request was denied, which ends the loop; after a denial by rule the model continues. */
export function isRejected(state: Fields): boolean {
  const error = asText(state.error) ?? ''
  const emitted = error.includes('rejected permission') || error.includes('dismissed this question')
  return emitted && state.status !== 'completed'
}

function statusOf(
  name: string,
  state: Fields,
  metadata: Fields,
  refusedBy: DeniedBy,
): Pick<ToolResult, 'status' | 'deniedBy'> {
  if (state.status !== 'completed') {
    const error = asText(state.error) ?? ''
    if (error.includes('rule which prevents')) return { status: 'denied', deniedBy: 'policy' }
    if (isRejected(state)) return { status: 'denied', deniedBy: refusedBy }
    return { status: error.includes('Tool execution aborted') ? 'cancelled' : 'error' }
  }
  // A killed shell has no exit code but is still "completed".
  if (metadata.exit === null) {
    const aborted = asText(state.output)?.includes('User aborted the command')
    return { status: aborted ? 'cancelled' : 'error' }
  }
  const failed = name === 'invalid' || (number(metadata, 'exit') ?? 0) !== 0
  return { status: failed ? 'error' : 'success' }
}
