import type { ToolKind } from '../../../../model/index.ts'
import { type Fields, fields, isFields, list, number, text } from '../../../kit/fields.ts'
import { parentOf } from '../chunks.ts'
import type { AcpQuirks } from '../launch/quirks.ts'
import type { AcpState, ToolCall } from '../state.ts'
import { changesIn } from './changes.ts'

export function newToolCall(): ToolCall {
  return {
    toolId: undefined,
    name: undefined,
    title: undefined,
    kind: undefined,
    switchesMode: false,
    input: undefined,
    locations: undefined,
    parent: undefined,
    content: '',
    terminal: '',
    exitCode: undefined,
    changes: [],
    response: undefined,
    detached: false,
  }
}

/** Merges a frame into the state of a call; omitted fields stay unchanged. */
export function learn(state: AcpState, call: ToolCall, id: string, native: Fields): void {
  const meta = isFields(native._meta) ? native._meta : undefined
  const title = text(native, 'title')
  call.name ??= nameOf(state.quirks, id, native, meta) ?? title
  call.title = title ?? call.title
  call.parent ??= parentOf(meta)
  learnInput(call, native)
  const kind = text(native, 'kind')
  if (kind !== undefined) call.switchesMode = kind === 'switch_mode'
  // Later frames of such a call have no mark, and name the kind of the protocol.
  const isForeign = call.kind === 'mcp'
  if (!isForeign && (kind !== undefined || call.kind === undefined))
    call.kind = kindOf(state, call.name ?? '', kind, meta)
  if (meta) learnMeta(call, meta)
  const content = list(native, 'content')
  const changes = changesIn(content, state.quirks.wholeDiffs)
  if (changes.length > 0) call.changes = changes
}

/** Files belong to the input they come with and say nothing about another one. */
function learnInput(call: ToolCall, { rawInput, locations }: Fields): void {
  const given = rawInput !== undefined && rawInput !== null
  if (Array.isArray(locations)) call.locations = locationsIn(locations)
  else if (given && call.locations && !same(rawInput, call.input)) call.locations = undefined
  if (given) call.input = rawInput
}

/** Also compares the order of fields, because agents show the input as they wrote it. */
export function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

/** Names occur in many fields, and some agents have only the title. */
function nameOf(quirks: AcpQuirks, id: string, native: Fields, meta: Fields | undefined): string | undefined {
  const given = text(native, 'name')
  if (given) return given
  const noted = meta && (text(fields(meta, 'claudeCode'), 'toolName') ?? text(meta, 'toolName'))
  if (noted) return noted
  const end = quirks.nameEnd === undefined ? -1 : id.indexOf(quirks.nameEnd)
  return end > 0 ? id.slice(0, end) : undefined
}

const KINDS: ReadonlySet<string> = new Set<ToolKind>([
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
])

function isKind(kind: string | undefined): kind is ToolKind {
  return kind !== undefined && KINDS.has(kind)
}

/** The protocol has no kinds for sub-agents and MCP tools: they are recognised by name. */
function kindOf(state: AcpState, name: string, kind: string | undefined, meta: Fields | undefined): ToolKind {
  if (state.quirks.subagentTools.includes(name)) return 'task'
  // Codex calls any tool of a server `execute`.
  if (meta?.is_mcp_tool_call === true) return 'mcp'
  if (isKind(kind)) return kind
  const foreign = name.startsWith('mcp_') || state.mcpServers.some((server) => name.startsWith(`${server}_`))
  return foreign ? 'mcp' : 'other'
}

function locationsIn(native: readonly unknown[]): ToolCall['locations'] {
  const locations = native.filter(isFields).flatMap((location) => {
    const path = text(location, 'path')
    if (path === undefined) return []
    const line = number(location, 'line')
    return [line !== undefined && Number.isSafeInteger(line) && line >= 0 ? { path, line } : { path }]
  })
  return locations.length > 0 ? locations : undefined
}

/** Terminals that agents run themselves, and results in the format of the program behind an adapter. */
function learnMeta(call: ToolCall, meta: Fields): void {
  const exitCode = number(fields(meta, 'terminal_exit'), 'exit_code')
  if (exitCode !== undefined && Number.isSafeInteger(exitCode)) call.exitCode = exitCode
  const response = fields(meta, 'claudeCode').toolResponse
  if (response === undefined) return
  call.response = response
  if (isFields(response) && response.isAsync === true) call.detached = true
}

export function terminalDelta(native: Fields): string {
  return text(fields(fields(native, '_meta'), 'terminal_output_delta'), 'data') ?? ''
}

/** The text in the content of a call; other content is represented by its address or type. */
export function contentText(native: Fields): string {
  return contentTexts(native).join('\n')
}

/** The same, one for each block. */
export function contentTexts(native: Fields): string[] {
  return list(native, 'content').flatMap((block) => {
    if (!isFields(block) || block.type !== 'content') return []
    const inner = fields(block, 'content')
    const resource = isFields(inner.resource) ? inner.resource : inner
    return text(resource, 'text') ?? text(resource, 'uri') ?? `[${text(inner, 'type') ?? '?'}]`
  })
}

/** The action of the call: its input, or else everything that is shown of it. */
export function inputOf(call: Pick<ToolCall, 'input' | 'title' | 'changes'>, native: Fields): unknown {
  if (call.input !== undefined) return call.input
  const description = contentText(native)
  const shown = {
    ...(call.title !== undefined && { title: call.title }),
    ...(description !== '' && { description }),
    ...(call.changes.length > 0 && { changes: call.changes }),
  }
  return Object.keys(shown).length > 0 ? shown : undefined
}
