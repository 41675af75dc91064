import type { Location, ToolKind } from '../../model/index.ts'
import { compact, type Fields, fields, isFields, list, text } from '../fields.ts'
import type { ToolTable } from '../tool-names.ts'
import type { Change } from '../tools.ts'

/** Pi's own tools. */
const KINDS: ReadonlyMap<string, ToolKind> = new Map([
  ['read', 'read'],
  ['bash', 'execute'],
  ['powershell', 'execute'],
  ['edit', 'edit'],
  ['write', 'edit'],
  ['grep', 'search'],
  ['find', 'search'],
  ['ls', 'search'],
  ['codemode', 'execute'],
  ['tool_search', 'search'],
])

export const TOOLS: ToolTable = {
  agent: 'pi',
  kinds: KINDS,
  mcpName: ({ server, tool }) => `mcp__${server}__${tool ?? '*'}`,
  mcpTool(name) {
    const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
    if (server === undefined || tool === undefined) return undefined
    return tool === '*' ? { server } : { server, tool }
  },
  // Extensions add tools under any name; one in two parts is no misspelling of a tool of its own.
  accepts: (name) => /^[a-z]\w*_\w+$/.test(name),
}

/** Always there, unless somebody took them away. */
const DEFAULT_TOOLS = ['read', 'bash', 'edit', 'write']

export function kindOf(name: string): ToolKind {
  return KINDS.get(name) ?? (name.startsWith('mcp__') ? 'mcp' : 'other')
}

/** A tool that exists by default and was not found is one that the policy left out. */
export function isTakenAway(name: string, answer: string): boolean {
  return DEFAULT_TOOLS.includes(name) && answer === `Tool ${name} not found`
}

/** The one argument a person wants to see beside the tool's name. */
const TITLE_FIELDS = ['command', 'path', 'pattern', 'query', 'url']

export function titleOf(input: Fields): string | undefined {
  for (const key of TITLE_FIELDS) {
    const value = text(input, key)
    if (value) return value
  }
  return undefined
}

/** Pi reads more into such a path than others do, so nobody else can say where it leads. */
const ITS_OWN_PATH = /^(?:[@~]|file:)|[\u00A0\u2000-\u200A\u202F\u205F\u3000]/

export function locationsOf(input: Fields): Location[] | undefined {
  const path = text(input, 'path')
  return path && !ITS_OWN_PATH.test(path) ? [{ path }] : undefined
}

/** What a call that succeeded did to a file. */
export function changesOf(name: string, input: Fields, result: Fields): Change[] {
  const path = text(input, 'path')
  if (path === undefined) return []
  if (name === 'edit') {
    const diff = text(fields(result, 'details'), 'patch')
    return [{ path, change: 'modified', ...compact({ diff }) }]
  }
  // It does not say whether the file was there before.
  if (name === 'write') return [{ path, change: 'modified', ...compact({ after: text(input, 'content') }) }]
  return []
}

/** The text of a message or of a result, which may be plain or in blocks. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .filter(isFields)
    .flatMap((block) => (text(block, 'type') === 'text' ? [text(block, 'text') ?? ''] : []))
    .join('\n')
}

/** What of a result is no text, and no copy of its text. */
export function dataOf(result: Fields, shown: string, output: string): Fields | undefined {
  const { truncation, ...details } = fields(result, 'details')
  const others = list(result, 'content').filter((block) => isFields(block) && text(block, 'type') !== 'text')
  const { structuredContent, usage, nestedCalls } = result
  const own =
    isFields(structuredContent) && structuredContent.output !== output ? structuredContent : undefined
  const data = compact({
    ...details,
    // What the model was shown of an output that is longer.
    ...(isFields(truncation) && { shown, truncation: { ...truncation, content: undefined } }),
    structuredContent: own,
    content: others.length > 0 ? others : undefined,
    usage,
    nestedCalls,
  })
  return Object.keys(data).length > 0 ? data : undefined
}
