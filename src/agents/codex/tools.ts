import type { ToolStatus } from '../../model/index.ts'
import {
  asAmount,
  asFields,
  asText,
  compact,
  type Fields,
  fields,
  isFields,
  list,
  objects,
  only,
  text,
} from '../kit/fields.ts'
import type { FileChange, ToolResult } from '../kit/tools.ts'
import { isRefusedMcpCall } from './refusals.ts'

/** `{"type": "add"}` in the app-server, `"add"` in `codex exec`. */
function kindOf(change: Fields): string | undefined {
  return asText(change.kind) ?? asText(asFields(change.kind).type)
}

/** The changes of a patch. The "diff" of a new or a deleted file is its content. */
export function changesOf(item: Fields): readonly FileChange[] {
  return objects(item, 'changes').map(changeOf)
}

export function changeOf(change: Fields): FileChange {
  const path = asText(change.path) ?? '?'
  const diff = asText(change.diff)
  switch (kindOf(change)) {
    case 'add':
      return diff === undefined ? { path, change: 'created' } : { path, change: 'created', after: diff }
    case 'delete':
      return diff === undefined ? { path, change: 'deleted' } : { path, change: 'deleted', before: diff }
    case 'update':
      return updated(path, diff, text(fields(change, 'kind'), 'move_path'))
    default:
      return replaced(path, change)
  }
}

/** The new name of a moved file is appended to the diff, where a diff cannot have it. */
function updated(path: string, diff: string | undefined, movedTo: string | undefined): FileChange {
  if (movedTo === undefined) {
    return diff === undefined ? { path, change: 'modified' } : { path, change: 'modified', diff }
  }
  const note = `\n\nMoved to: ${movedTo}`
  const clean = diff?.endsWith(note) ? diff.slice(0, -note.length) : diff
  return { path: movedTo, change: 'renamed', from: path, ...compact({ diff: clean }) }
}

/** The documented format contains the whole file before and after, without one of them if there was no file. */
function replaced(path: string, native: Fields): FileChange {
  const before = text(native, 'before')
  const after = text(native, 'after')
  if (before === undefined && after === undefined) return { path, change: 'modified', changeReported: false }
  const change = before === undefined ? 'created' : after === undefined ? 'deleted' : 'modified'
  return { path, change, ...compact({ before, after }) }
}

/** The result of an MCP tool: its text, the complete data, and the error. */
export function mcpResult(item: Fields): Partial<ToolResult> {
  const { result } = item
  const error = asText(asFields(item.error).message)
  const durationMs = asAmount(item.durationMs)
  if (isFields(result))
    return { output: contentText(list(result, 'content')), data: result, error, durationMs }
  return { output: asText(result), error, durationMs }
}

/** The text parts of a tool result; other parts are named. */
export function contentText(parts: readonly unknown[]): string {
  return only(parts, isFields)
    .map((part) => text(part, 'text') ?? `[${text(part, 'type') ?? '?'}]`)
    .join('\n')
}

/** The status of a call, from Codex's status in either program. */
export function statusOf(item: Fields, { error, exitCode }: Partial<ToolResult>): ToolStatus {
  switch (item.status) {
    case 'failed':
      return error !== undefined && isRefusedMcpCall(error) ? 'denied' : 'error'
    case 'declined':
      return 'denied'
    case 'interrupted':
      return 'cancelled'
    default:
      return (exitCode ?? 0) === 0 ? 'success' : 'error'
  }
}
