import { escapeInvisible } from 'mainstem/client'
import { useCallback, useState } from 'react'
import { editorHref, preferences } from '../../app/preferences.ts'
import { useStore } from '../../app/store.ts'
import type { DiffLine } from '../../text/diff.ts'
import { DiffLines } from '../../text/diff-lines.tsx'
import { Counts } from '../../text/diff-view.tsx'
import { languageOfFile } from '../../text/languages.ts'
import { PathText } from '../../text/path-text.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { drafts } from '../compose/drafts.ts'
import type { ChangedFile } from './changed-files.ts'
import { fileElement } from './file-tree.tsx'
import { CommentForm, Comments, placeOfLine } from './line-comments.tsx'

interface FileChangesProps {
  session: string
  file: ChangedFile
  split: boolean
  folded: boolean
  onFold(folded: boolean): void
}

/** One file: its heading, and its changes with the comments on their lines. */
export function FileChanges({ session, file, split, folded, onFold }: FileChangesProps) {
  const { path, changes, added, removed } = file
  const { editor } = useStore(preferences)
  const firstLine = changes[0]?.lines.find(({ kind }) => kind === 'added')?.after
  const href = editorHref(editor, path, firstLine)
  return (
    <section
      id={fileElement(path)}
      aria-label={`Diff of ${escapeInvisible(path)}`}
      className="rounded-md border border-line bg-panel"
    >
      <header className="sticky -top-3 z-1 flex items-center gap-2 rounded-t-md border-b border-line bg-raised px-2 py-1 sm:-top-4">
        <button
          type="button"
          aria-expanded={!folded}
          className="flex min-w-0 flex-1 items-center gap-1.5 text-left font-mono text-xs"
          onClick={() => onFold(!folded)}
        >
          <Icon name="chevron" className={`size-3.5 text-soft ${folded ? '' : 'rotate-90'}`} />
          <PathText path={path} />
        </button>
        {href !== undefined && (
          <a href={href} className="shrink-0 text-xs text-accent hover:underline">
            Open
          </a>
        )}
        <CopyButton text={path} label="Path" className="max-sm:hidden" />
        <span className="text-xs text-soft">{changes.at(-1)?.diff.change}</span>
        <Counts added={added} removed={removed} />
      </header>
      {!folded &&
        changes.map((change) => (
          <div key={change.key} className="not-last:border-b border-line">
            {changes.length > 1 && change.turn !== undefined && (
              <p className="px-2 pt-1 text-xs text-soft">Turn {change.turn}</p>
            )}
            {change.lines.length === 0 ? (
              <p className="px-2 py-1 text-xs text-soft">The agent reported no content for this change.</p>
            ) : (
              <CommentedLines session={session} path={path} lines={change.lines} split={split} />
            )}
          </div>
        ))}
    </section>
  )
}

interface CommentedLinesProps {
  session: string
  path: string
  lines: readonly DiffLine[]
  split: boolean
}

function CommentedLines({ session, path, lines, split }: CommentedLinesProps) {
  useStore(drafts)
  const [writing, setWriting] = useState<DiffLine>()
  const own = drafts.of(session).comments.filter((comment) => comment.path === path)
  const below = (line: DiffLine) => {
    const comments = own.filter(({ place, line: text }) => place === placeOfLine(line) && text === line.text)
    return (
      <>
        {comments.length > 0 && <Comments session={session} comments={comments} />}
        {writing === line && (
          <CommentForm session={session} path={path} line={line} onDone={() => setWriting(undefined)} />
        )}
      </>
    )
  }
  const onComment = useCallback((line: DiffLine) => setWriting(line), [])
  return (
    <DiffLines
      lines={lines}
      language={languageOfFile(path)}
      split={split}
      onComment={onComment}
      below={below}
    />
  )
}
