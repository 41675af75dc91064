import type { ToolItem } from '../timeline/items.ts'

/** A command that a call runs. */
export interface CallCommand {
  /** The command line. Arguments of a list are quoted where a shell needs it. */
  text: string
  /** The directory that the input names. */
  directory: string | undefined
  /** The fields of the input that these values are from. */
  fields: readonly string[]
}

/** A tool of an MCP server. */
export interface McpName {
  /** The name of the server. */
  server: string
  /** The name of its tool. */
  tool: string
}

/** A tool call in a few words. */
export interface CallDescription {
  /** What the call does: `Read`, `Edit`, `Run`, or the name of the tool. */
  verb: string
  /** What it does that to. */
  subject: string
  /** How to display the subject. */
  form: 'command' | 'path' | 'text'
}

type CallFacts = Pick<ToolItem, 'name' | 'toolKind' | 'title' | 'input' | 'draft'>

const VERBS: Readonly<Partial<Record<ToolItem['toolKind'], string>>> = {
  read: 'Read',
  edit: 'Edit',
  delete: 'Delete',
  move: 'Move',
  search: 'Search',
  execute: 'Run',
  think: 'Think',
  fetch: 'Fetch',
  task: 'Sub-agent',
}

const COMMANDS = ['command', 'cmd'] as const
const DIRECTORIES = ['cwd', 'workdir', 'directory', 'dir_path'] as const
const PATHS = ['file_path', 'filePath', 'path', 'absolute_path', 'notebook_path'] as const
const SUBJECTS = ['pattern', 'query', 'url', 'description', 'prompt'] as const

/** Describes a call in a line: a command, a path below the working directory, or a short text. */
export function describeCall(call: CallFacts, cwd: string): CallDescription {
  const { name, toolKind, title, input, draft } = call
  const mcp = mcpName(name)
  if (mcp) return { verb: `${mcp.server} › ${mcp.tool}`, subject: textOf(input, draft), form: 'text' }
  const verb = VERBS[toolKind] ?? name
  const command = toolKind === 'execute' ? commandOf(input) : undefined
  if (command) return { verb, subject: command.text, form: 'command' }
  const path = field(input, PATHS)
  const isAboutFile = toolKind === 'read' || toolKind === 'edit' || toolKind === 'delete'
  if (path !== undefined && isAboutFile) return { verb, subject: relativePath(path, cwd), form: 'path' }
  const subject = field(input, SUBJECTS) ?? title ?? textOf(input, draft)
  return { verb, subject: withRelativePaths(withoutVerb(subject, verb), cwd), form: 'text' }
}

/** The command in the input of a call. */
export function commandOf(input: unknown): CallCommand | undefined {
  if (!isFields(input)) return undefined
  const name = COMMANDS.find((one) => typeof input[one] === 'string' || isWords(input[one]))
  if (name === undefined) return undefined
  const value = input[name]
  const directory = DIRECTORIES.find((one) => typeof input[one] === 'string')
  return {
    text: isWords(value) ? value.map(quoted).join(' ') : String(value),
    directory: directory && String(input[directory]),
    fields: directory === undefined ? [name] : [name, directory],
  }
}

/** Server and tool in the name of an MCP tool, such as `mcp__docs__search` or `mcp:docs/search`. */
export function mcpName(name: string): McpName | undefined {
  const [, server, tool] = /^mcp(?:__(?=.+__)|:)(.+?)(?:__|\/)(.+)$/s.exec(name) ?? []
  return server === undefined || tool === undefined ? undefined : { server, tool }
}

/** "Read src/a.ts" after the verb "Read" is "src/a.ts". */
function withoutVerb(subject: string, verb: string): string {
  return subject.startsWith(`${verb} `) ? subject.slice(verb.length + 1) : subject
}

function textOf(input: unknown, draft: string): string {
  if (typeof input === 'string') return input
  if (!isFields(input)) return draft
  const first = Object.values(input).find((value) => typeof value === 'string')
  return typeof first === 'string' ? (first.split('\n', 1)[0] ?? '') : ''
}

function field(input: unknown, names: readonly string[]): string | undefined {
  if (!isFields(input)) return undefined
  const name = names.find((one) => typeof input[one] === 'string' && input[one] !== '')
  return name === undefined ? undefined : String(input[name])
}

/** A word as a POSIX shell reads it back. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string')
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A path below a directory without that directory; any other path as it is, also while the directory is unknown (empty). */
export function relativePath(path: string, cwd: string): string {
  if (cwd === '') return path
  const below = `${cwd.replace(/\/+$/, '')}/`
  const rest = path.startsWith(below) ? path.slice(below.length) : ''
  // A path that leaves the directory again must not look as if it were inside.
  return rest === '' || rest.split('/').includes('..') ? path : rest
}

/** A text in which paths below a directory are relative to it. */
export function withRelativePaths(text: string, cwd: string): string {
  const below = `${cwd.replace(/\/+$/, '')}/`
  if (below === '/' || !text.includes(below)) return text
  return text.replaceAll(/(^|[\s"'`(=:])(\/[^\s"'`)]+)/g, (_, before: string, path: string) => {
    return before + relativePath(path, cwd)
  })
}
