import type { SessionRecord } from 'mainstem/client'
import { useMemo, useState } from 'react'
import { EDITORS, type Preferences, prefer, preferences } from '../../app/preferences.ts'
import { useStore } from '../../app/store.ts'
import { Counts } from '../../text/diff-view.tsx'
import { patchOf } from '../../text/patch.ts'
import { useRelativePaths } from '../../text/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { useMedia } from '../../ui/media.ts'
import { Notice } from '../../ui/notice.tsx'
import { Segments } from '../../ui/segments.tsx'
import { type ChangedFile, changedFiles, totalsOf, turnsOf } from './changed-files.ts'
import { FileChanges } from './file-changes.tsx'
import { FileTree } from './file-tree.tsx'
import { useChanges } from './use-changes.ts'

/** What the agent changed: a tree of files, and each file as a diff, of one turn or of the whole session. */
export default function ChangesTab({ record, head }: { record: SessionRecord; head: number }) {
  const { changes, loaded, error } = useChanges(record.id, head)
  const [turn, setTurn] = useState<number>()
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const { diff } = useStore(preferences)
  const hasRoom = useMedia('(min-width: 64rem)')
  const files = useMemo(
    () => changedFiles(turn === undefined ? changes : changes.filter((change) => change.turn === turn)),
    [changes, turn],
  )
  const turns = useMemo(() => turnsOf(changes), [changes])
  const fold = (path: string, isFolded: boolean) => {
    const next = new Set(folded)
    if (isFolded) next.add(path)
    else next.delete(path)
    setFolded(next)
  }
  if (error !== undefined)
    return (
      <Centered>
        <Notice level="error">{error}</Notice>
      </Centered>
    )
  if (!loaded && changes.length === 0) return <Centered>Reading the changes…</Centered>
  if (changes.length === 0) return <NoChanges record={record} />
  const allFolded = files.every(({ path }) => folded.has(path))
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-line px-3 py-2 text-sm sm:px-5">
        <Summary files={files} />
        {turns.length > 1 && <TurnChoice turns={turns} turn={turn} onChoose={setTurn} />}
        <span className="ml-auto flex flex-wrap items-center gap-1">
          <Button
            look="quiet"
            size="small"
            onClick={() => setFolded(new Set(allFolded ? [] : files.map(({ path }) => path)))}
          >
            {allFolded ? 'Unfold all' : 'Fold all'}
          </Button>
          <CopyPatch files={files} />
          <EditorChoice />
          {hasRoom && (
            <Segments
              label="Layout of diffs"
              options={{ unified: 'Unified', split: 'Split' }}
              value={diff}
              onChange={(value) => prefer({ diff: value })}
            />
          )}
        </span>
      </div>
      <div className="flex min-h-0 flex-1">
        <FileTree files={files} />
        <div className="min-h-0 min-w-0 flex-1 space-y-3 overflow-y-auto p-3 sm:p-4">
          {files.map((file) => (
            <FileChanges
              key={file.path}
              session={record.id}
              file={file}
              split={diff === 'split' && hasRoom}
              folded={folded.has(file.path)}
              onFold={(isFolded) => fold(file.path, isFolded)}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

function Centered({ children }: { children: React.ReactNode }) {
  return <div className="mx-auto min-h-0 w-full max-w-lg flex-1 p-6 text-center text-soft">{children}</div>
}

/** Teaches what will be here. */
function NoChanges({ record }: { record: SessionRecord }) {
  return (
    <Centered>
      <p className="font-medium text-ink">
        No file was changed {record.status === 'busy' ? 'yet' : 'in this session'}
      </p>
      <p className="mt-1">
        Files that the agent edits appear here as diffs. Press + beside a line to comment on it: the comment
        goes to the agent with your next prompt.
      </p>
    </Centered>
  )
}

function Summary({ files }: { files: readonly ChangedFile[] }) {
  return (
    <span className="flex items-center gap-2 font-medium">
      {files.length} {files.length === 1 ? 'file' : 'files'} <Counts {...totalsOf(files)} />
    </span>
  )
}

interface TurnChoiceProps {
  turns: readonly number[]
  turn: number | undefined
  onChoose(turn: number | undefined): void
}

function TurnChoice({ turns, turn, onChoose }: TurnChoiceProps) {
  return (
    <select
      aria-label="Changes of"
      className="py-0.5 text-sm"
      value={turn ?? ''}
      onChange={({ target }) => onChoose(target.value === '' ? undefined : Number(target.value))}
    >
      <option value="">Whole session</option>
      {turns.map((one) => (
        <option key={one} value={one}>
          Turn {one}
        </option>
      ))}
    </select>
  )
}

function CopyPatch({ files }: { files: readonly ChangedFile[] }) {
  const { path } = useRelativePaths()
  const changes = files.flatMap((file) => file.changes).sort((a, b) => a.seq - b.seq)
  const patches = changes.flatMap(({ diff }) => patchOf(diff, path) ?? [])
  const left = changes.length - patches.length
  return (
    <span className="inline-flex items-center gap-1.5">
      <CopyButton text={() => patches.join('')} label="Copy patch" />
      {left > 0 && (
        <span
          className="text-xs text-soft"
          title="A patch needs the content of a change, and a path below the directory of the session"
        >
          without {left} {left === 1 ? 'change' : 'changes'}
        </span>
      )}
    </span>
  )
}

/** Off by default: the files are on the machine of the agent, which may be another one. */
function EditorChoice() {
  const { editor } = useStore(preferences)
  return (
    <select
      aria-label="Open files in"
      className="py-0.5 text-xs text-soft max-sm:hidden"
      value={editor}
      onChange={({ target }) => prefer({ editor: target.value as Preferences['editor'] })}
    >
      {Object.entries(EDITORS).map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  )
}
