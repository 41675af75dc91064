import type { Entry, FileChanged } from 'mainstem/client'
import { countChanges, type DiffLine, type FileDiff } from '../../text/diff.ts'
import { linesOfFile } from '../../text/diff-view.tsx'

/** A change with its place in the log. */
export interface PlacedChange {
  seq: number
  turn: number | undefined
  file: FileChanged
}

/** A change as it is shown: one of the log, or several as one. */
interface ShownChange {
  key: string
  /** The first entry of the change. */
  seq: number
  turn: number | undefined
  diff: FileDiff
  lines: readonly DiffLine[]
}

/** A file with its changes. */
export interface ChangedFile {
  path: string
  changes: readonly ShownChange[]
  added: number
  removed: number
}

export const changesOf = (entries: readonly Entry[]): PlacedChange[] =>
  entries.flatMap(({ seq, turn, event }) =>
    event.type === 'file.changed' ? [{ seq, turn, file: event }] : [],
  )

/** The turns that changed files, in order. */
export const turnsOf = (changes: readonly PlacedChange[]): number[] =>
  [...new Set(changes.flatMap(({ turn }) => turn ?? []))].sort((a, b) => a - b)

/** The folder of a path; empty for a name alone. */
const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** The files of these changes by folder, then by name. Changes whose texts are all known become one difference, from first to last. */
export function changedFiles(changes: readonly PlacedChange[]): ChangedFile[] {
  const byPath = Map.groupBy(changes, ({ file }) => file.path)
  return [...byPath]
    .map(([path, own]) => changedFile(path, own))
    .sort((a, b) => folderOf(a.path).localeCompare(folderOf(b.path)) || a.path.localeCompare(b.path))
}

function changedFile(path: string, own: readonly PlacedChange[]): ChangedFile {
  const whole = own.length > 1 ? netChange(path, own) : undefined
  const diffs = whole
    ? [{ key: `${path} whole`, seq: own[0]?.seq ?? 0, turn: undefined, diff: whole }]
    : own.map(({ seq, turn, file }) => ({ key: `${seq}`, seq, turn, diff: file }))
  const changes = diffs.map((change) => ({ ...change, lines: linesOfFile(change.diff) }))
  return { path, changes, ...countChanges(changes.flatMap(({ lines }) => lines)) }
}

/** The difference between the first and the last text, if each change begins where the one before it ended. */
function netChange(path: string, own: readonly PlacedChange[]): FileDiff | undefined {
  const isChain = own.every(({ file: { before, after, change } }, index) => {
    if (after === undefined && change !== 'deleted') return false
    return index === 0 ? before !== undefined || change === 'created' : before === own[index - 1]?.file.after
  })
  const [first, last] = [own[0]?.file, own.at(-1)?.file]
  if (!isChain || !first || !last) return undefined
  // Nothing is left of a file that was only there in between.
  if (first.change === 'created' && last.change === 'deleted') return { path, change: 'deleted' }
  const change = last.change === 'deleted' ? 'deleted' : first.change === 'created' ? 'created' : 'modified'
  const texts = { before: first.before ?? '', after: last.after ?? '' }
  return first.from === undefined || last.change === 'deleted'
    ? { path, change, ...texts }
    : { path, change: 'renamed', from: first.from, ...texts }
}

export function totalsOf(files: readonly ChangedFile[]): { added: number; removed: number } {
  let [added, removed] = [0, 0]
  for (const file of files) {
    added += file.added
    removed += file.removed
  }
  return { added, removed }
}

/** A folder with its changed files. */
export interface ChangedFolder {
  /** Empty for the directory of the session. */
  folder: string
  files: readonly { name: string; file: ChangedFile }[]
}

/** Files by folder, in their order. `nameOf` shortens paths. */
export function foldersOf(files: readonly ChangedFile[], nameOf: (path: string) => string): ChangedFolder[] {
  const placed = files.map((file) => {
    const path = nameOf(file.path)
    const folder = folderOf(path)
    return { folder, name: folder === '' ? path : path.slice(folder.length + 1), file }
  })
  return [...Map.groupBy(placed, ({ folder }) => folder)].map(([folder, own]) => ({
    folder,
    files: own.map(({ name, file }) => ({ name, file })),
  }))
}
