import { compact, type Fields, fields, isFields, list, number, text, texts } from '../../../kit/fields.ts'
import { changeInDiff, type FileChange } from '../../../kit/tools.ts'

/** The diffs in the content of a call. They are proposals until the call has succeeded. */
export function changesIn(content: readonly unknown[], whole: boolean): FileChange[] {
  return content.flatMap((block) => {
    if (!isFields(block) || block.type !== 'diff') return []
    return Array.isArray(block.changes) ? patchChanges(block) : diffChange(block, whole)
  })
}

function diffChange(diff: Fields, whole: boolean): FileChange[] {
  const path = text(diff, 'path')
  if (path === undefined) return []
  const before = text(diff, 'oldText')
  const after = text(diff, 'newText')
  const kind = text(fields(diff, '_meta'), 'kind')
  if (kind === 'delete') return [{ path, change: 'deleted', ...(before && { before }) }]
  if (kind === 'add' || (before === undefined && kind !== 'update'))
    return [{ path, change: 'created', ...compact({ after }) }]
  // Only agents with an explicit kind distinguish an empty file from a missing one.
  if (before === '' && kind !== 'update')
    return [{ path, change: 'created', changeReported: false, ...compact({ after }) }]
  if (whole) return [{ path, change: 'modified', ...compact({ before, after }) }]
  return [{ path, change: 'modified', diff: hunk(before ?? '', after ?? '') }]
}

/** Replaced lines without a position, which the agent does not report. */
function hunk(before: string, after: string): string {
  const lines = (sign: string, block: string) =>
    block === '' ? '' : `${sign}${block.replace(/\n$/, '').split('\n').join(`\n${sign}`)}\n`
  return `@@ @@\n${lines('-', before)}${lines('+', after)}`
}

const OPERATIONS: ReadonlyMap<string | undefined, FileChange['change']> = new Map([
  ['add', 'created'],
  ['modify', 'modified'],
  ['delete', 'deleted'],
  ['move', 'renamed'],
])

/** The draft version lists the files and gives one patch for all of them. */
function patchChanges(diff: Fields): FileChange[] {
  const patch = text(fields(diff, 'patch'), 'text')
  const changes = list(diff, 'changes').flatMap((native): FileChange[] => {
    const path = isFields(native) ? (text(native, 'path') ?? text(native, 'newPath')) : undefined
    if (!isFields(native) || path === undefined) return []
    const change = OPERATIONS.get(text(native, 'operation'))
    const from = compact({ from: text(native, 'oldPath') })
    return [change ? { path, change, ...from } : { path, change: 'modified', changeReported: false, ...from }]
  })
  return changes.map((change, index) => (index === 0 && patch ? { ...change, diff: patch } : change))
}

/** The changes of a successful call: the shown diffs, refined by its structured result. */
export function changesDone(
  shown: readonly FileChange[],
  output: unknown,
  response: unknown,
  input: unknown,
): FileChange[] {
  const result = isFields(output) ? output : {}
  const done = isFields(response) ? response : {}
  const [only, ...others] = shown
  if (only === undefined) return writtenFile(fields(result, 'metadata'), input)
  if (others.length > 0 || only.change === 'deleted') return [...shown]
  const diff = patchIn(result) ?? structuredPatch(done) ?? only.diff
  const before = text(done, 'originalFile') ?? only.before
  return [{ ...proven(only, diff), ...compact({ diff, before }) }]
}

/** The diff of a result may show whether the file existed. */
function proven(change: FileChange, diff = ''): FileChange {
  const { changeReported, ...rest } = change
  const shown = changeInDiff(diff)
  return changeReported === false && shown.changeReported !== false ? { ...rest, ...shown } : change
}

/** A file that one agent names without a diff. */
function writtenFile(metadata: Fields, input: unknown): FileChange[] {
  const path = text(metadata, 'filepath')
  if (path === undefined) return []
  const after = isFields(input) ? text(input, 'content') : undefined
  const change = metadata.exists === false ? 'created' : 'modified'
  const guess = typeof metadata.exists === 'boolean' ? {} : { changeReported: false as const }
  return [{ path, change, ...guess, ...compact({ after }) }]
}

function patchIn(result: Fields): string | undefined {
  const patch = text(fields(result, 'metadata'), 'diff') ?? text(result, 'fileDiff')
  if (patch !== undefined) return patch
  const detailed = text(result, 'detailedContent')
  return detailed?.trimStart().startsWith('diff --git') ? detailed : undefined
}

function structuredPatch(response: Fields): string | undefined {
  let diff = ''
  for (const part of list(response, 'structuredPatch')) {
    if (!isFields(part)) continue
    const range = (side: string) =>
      `${number(part, `${side}Start`) ?? 0},${number(part, `${side}Lines`) ?? 0}`
    diff += `@@ -${range('old')} +${range('new')} @@\n`
    for (const line of texts(part, 'lines') ?? []) diff += `${line}\n`
  }
  return diff === '' ? undefined : diff
}
