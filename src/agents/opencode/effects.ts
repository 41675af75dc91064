import type { FileChanged } from '../../model/events/tool.ts'
import type { PlanItem } from '../../model/events/work.ts'
import { asFields, asText, compact, type Fields, fields, isFields, list, text } from '../kit/fields.ts'
import type { ReportedFacts } from '../kit/known.ts'
import { changeInDiff, type FileChange } from '../kit/tools.ts'

const NO_CHANGES: readonly FileChange[] = []

/** The file changes in the metadata of a file tool. */
export function changesOf(state: Fields): readonly FileChange[] {
  const metadata = asFields(state.metadata)
  const { files, filediff, exists } = metadata
  if (Array.isArray(files)) {
    const patched = files.filter(isFields).flatMap(patchChange)
    if (patched.length > 0) return patched
  }
  const input = asFields(state.input)
  if (isFields(filediff)) {
    const path = text(filediff, 'file') ?? text(input, 'filePath')
    const diff = text(filediff, 'patch') ?? text(metadata, 'diff')
    return path === undefined ? NO_CHANGES : [{ path, ...statusOf(filediff, diff), ...compact({ diff }) }]
  }
  const path = asText(metadata.filepath)
  if (path === undefined || typeof exists !== 'boolean') return NO_CHANGES
  const change = exists ? 'modified' : 'created'
  return [{ path, change, ...compact({ diff: text(metadata, 'diff'), after: text(input, 'content') }) }]
}

const STATUSES: ReadonlyMap<string | undefined, FileChanged['change']> = new Map([
  ['added', 'created'],
  ['modified', 'modified'],
  ['deleted', 'deleted'],
])

function statusOf(filediff: Fields, diff = ''): Pick<FileChange, 'change' | 'changeReported'> {
  const change = STATUSES.get(text(filediff, 'status'))
  return change ? { change } : changeInDiff(diff)
}

const PATCHES: ReadonlyMap<string | undefined, FileChanged['change']> = new Map([
  ['add', 'created'],
  ['update', 'modified'],
  ['delete', 'deleted'],
  ['move', 'renamed'],
])

/** One file of an `apply_patch`; documented, not recorded. */
function patchChange(file: Fields): FileChange[] {
  const path = text(file, 'filePath')
  const change = PATCHES.get(text(file, 'type'))
  if (path === undefined || change === undefined) return []
  const moved = change === 'renamed' ? text(file, 'movePath') : undefined
  const diff = text(file, 'patch') ?? text(file, 'diff')
  return [{ path: moved ?? path, change, ...compact({ diff, from: moved === undefined ? undefined : path }) }]
}

/** A cancelled item is not part of the plan. */
export function planOf(of: Fields): PlanItem[] {
  const items: PlanItem[] = []
  for (const todo of list(of, 'todos')) {
    const status = isFields(todo) ? text(todo, 'status') : undefined
    if (!isFields(todo) || status === 'cancelled') continue
    const known = status === 'in_progress' || status === 'completed' ? status : 'pending'
    const priority = text(todo, 'priority')
    items.push({ text: text(todo, 'content') ?? '', status: known, ...compact({ priority }) })
  }
  return items
}

/** The child session of a `task` call, and its model. */
export function childOf(
  state: Fields,
): { id: string; model?: string; prompt?: string; agentType?: string } | undefined {
  const metadata = fields(state, 'metadata')
  const id = text(metadata, 'sessionId')
  if (id === undefined) return undefined
  const input = fields(state, 'input')
  return {
    id,
    ...compact({
      model: modelName(fields(metadata, 'model')),
      prompt: text(input, 'prompt'),
      agentType: text(input, 'subagent_type'),
    }),
  }
}

/** `provider/model`, the format of OpenCode's options. */
export function modelName(native: Fields): string | undefined {
  const provider = text(native, 'providerID')
  const model = text(native, 'modelID') ?? text(native, 'id')
  return provider === undefined || model === undefined ? undefined : `${provider}/${model}`
}

/** The properties of a session that the server reports. */
export function factsOf(id: string, info: Fields): ReportedFacts {
  return {
    nativeSessionId: id,
    agentVersion: text(info, 'version'),
    title: text(info, 'title'),
    model: modelName(fields(info, 'model')),
    mode: text(info, 'agent'),
  }
}
