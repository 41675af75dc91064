import type { Location, ToolKind } from '../../model/index.ts'
import { compact, type Fields, fields, firstText, isFields, list, text } from '../kit/fields.ts'
import type { ToolTable } from '../kit/tool-names.ts'
import type { FileChange } from '../kit/tools.ts'

/** Pi's built-in tools. */
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
  // Extensions add tools with any name; a name with two parts is not a misspelled built-in tool.
  accepts: (name) => /^[a-z]\w*_\w+$/.test(name),
}

/** Tools that exist unless they are removed. */
const DEFAULT_TOOLS = ['read', 'bash', 'edit', 'write']

export function kindOf(name: string): ToolKind {
  return KINDS.get(name) ?? (name.startsWith('mcp__') ? 'mcp' : 'other')
}

/** A default tool that was not found was removed by the policy. */
export function isTakenAway(name: string, answer: string): boolean {
  return DEFAULT_TOOLS.includes(name) && answer === `Tool ${name} not found`
}

/** The argument to show next to the tool's name. */
export const titleOf = firstText('command', 'path', 'pattern', 'query', 'url')

/** Pi interprets such paths specially, so only pi knows where they lead. */
const SPECIAL_PATH = /^(?:[@~]|file:)|[\u00A0\u2000-\u200A\u202F\u205F\u3000]/

export function locationsOf(input: Fields): Location[] | undefined {
  const path = text(input, 'path')
  return path && !SPECIAL_PATH.test(path) ? [{ path }] : undefined
}

/** The file changes of a successful call. */
export function changesOf(name: string, input: Fields, result: Fields): FileChange[] {
  const path = text(input, 'path')
  if (path === undefined) return []
  if (name === 'edit') {
    const diff = text(fields(result, 'details'), 'patch')
    return [{ path, change: 'modified', ...compact({ diff }) }]
  }
  // Pi does not report whether the file existed before.
  if (name !== 'write') return []
  return [{ path, change: 'modified', changeReported: false, ...compact({ after: text(input, 'content') }) }]
}

/** The text of a message or a result, which is plain or in blocks. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .filter(isFields)
    .flatMap((block) => (text(block, 'type') === 'text' ? [text(block, 'text') ?? ''] : []))
    .join('\n')
}

/** The part of a result that is neither text nor a copy of its text. */
export function dataOf(result: Fields, shown: string, output: string): Fields | undefined {
  const { truncation, ...details } = fields(result, 'details')
  const others = list(result, 'content').filter((block) => isFields(block) && text(block, 'type') !== 'text')
  const { structuredContent, usage, nestedCalls } = result
  const own =
    isFields(structuredContent) && structuredContent.output !== output ? structuredContent : undefined
  const data = compact({
    ...details,
    // The part of a longer output that the model received.
    ...(isFields(truncation) && { shown, truncation: { ...truncation, content: undefined } }),
    structuredContent: own,
    content: others.length > 0 ? others : undefined,
    usage,
    nestedCalls,
  })
  return Object.keys(data).length > 0 ? data : undefined
}
