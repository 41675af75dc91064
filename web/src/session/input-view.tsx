import {
  approvalFields,
  commandOf,
  escapeInvisible,
  mcpName,
  proposedChanges,
  withRelativePaths,
} from 'mainstem/client'
import { CodeText } from '../text/code-text.tsx'
import type { FileDiff } from '../text/diff.ts'
import { DiffView } from '../text/diff-view.tsx'
import { LongText } from '../text/long-text.tsx'
import { keyed } from '../ui/keyed.ts'

/** Longer values have a block of their own. */
const SHORT = 80

interface InputViewProps {
  request: Parameters<typeof approvalFields>[0]
  /** Fields that are shown elsewhere. */
  without?: readonly string[]
  /** The directory of the session: where a command runs that names none, and what the paths of a title are relative to. */
  cwd?: string
}

/**
 * The whole input of a call, never shortened, because people decide by it: a command with its colours and directory,
 * the change of a file as a diff, and every other field by its name.
 */
export function InputView({ request, without = [], cwd = '' }: InputViewProps) {
  const { input, tool, title } = request
  const command = commandOf(input)
  const { changes, fields: changed } = proposedChanges(input)
  const isShown = new Set(
    [...without, ...(command?.fields ?? []), ...changed, 'tool', 'title'].map(escapeInvisible),
  )
  const fields = approvalFields(request).filter(({ name }) => !isShown.has(name))
  return (
    <>
      <Caller tool={tool} title={title === command?.text ? undefined : title} cwd={cwd} />
      {command && <Command text={command.text} directory={command.directory ?? cwd} />}
      {keyed(changes, ({ path = '' }) => path).map(([key, change]) => (
        <ProposedDiff key={key} change={change} line={lineOf(request)} />
      ))}
      <Fields fields={fields} />
    </>
  )
}

interface CallerProps {
  tool: string | undefined
  title: string | undefined
  cwd: string
}

/** The tool and what the agent calls its call, in one row. A title that repeats the tool is shown once. */
function Caller({ tool, title, cwd }: CallerProps) {
  const mcp = tool === undefined ? undefined : mcpName(tool)
  const isSaid = title === tool || title === mcp?.tool
  if (tool === undefined && (title === undefined || isSaid)) return null
  return (
    <p className="whitespace-pre-wrap">
      {tool !== undefined && !title?.startsWith(`${tool} `) && (
        <span className="mr-2 text-xs text-soft">
          {escapeInvisible(mcp ? `${mcp.server} › ${mcp.tool}` : tool)}
        </span>
      )}
      {title !== undefined && !isSaid && (
        <span className="font-medium">
          {escapeInvisible(cwd === '' ? title : withRelativePaths(title, cwd))}
        </span>
      )}
    </p>
  )
}

function Command({ text, directory }: { text: string; directory: string }) {
  return (
    <div>
      <pre className="rounded bg-raised px-2 py-1.5 wrap-anywhere whitespace-pre-wrap">
        <span aria-hidden="true" className="text-soft select-none">
          ${' '}
        </span>
        <CodeText text={text} language="bash" />
      </pre>
      {directory !== '' && (
        <p className="mt-0.5 text-xs text-soft">
          in <code>{escapeInvisible(directory)}</code>
        </p>
      )}
    </div>
  )
}

type Change = ReturnType<typeof proposedChanges>['changes'][number]

/** The line that an edit begins at, if the agent says so. */
function lineOf({ locations = [] }: InputViewProps['request']): number | undefined {
  return locations.length === 1 ? locations[0]?.line : undefined
}

function ProposedDiff({ change, line }: { change: Change; line: number | undefined }) {
  const isPart = change.change === 'modified' && change.diff === undefined
  const file: FileDiff = { ...change, path: change.path ?? 'edit' }
  const label =
    isPart && line === undefined
      ? 'part of the file'
      : change.change === 'created'
        ? 'new content'
        : undefined
  return <DiffView whole file={file} {...(label !== undefined && { label })} startsAt={isPart ? line : 1} />
}

interface FieldsProps {
  fields: ReturnType<typeof approvalFields>
}

function Fields({ fields }: FieldsProps) {
  return keyed(fields, ({ name }) => name).map(([key, { name, text }]) =>
    text.length <= SHORT && !text.includes('\n') ? (
      <p key={key} className="flex gap-2 text-sm">
        <span className="shrink-0 text-soft">{name}</span>
        <code className="min-w-0 wrap-anywhere whitespace-pre-wrap">{text}</code>
      </p>
    ) : (
      <div key={key}>
        <span className="text-sm text-soft">{name}</span>
        <LongText text={text} language={languageOfField(name, text)} />
      </div>
    ),
  )
}

function languageOfField(name: string, text: string): string | undefined {
  if (/^[[{]/.test(text)) return 'json'
  if (/sql/i.test(name)) return 'sql'
  return /patch|diff/i.test(name) ? 'diff' : undefined
}
