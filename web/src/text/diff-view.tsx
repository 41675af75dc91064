import { escapeInvisible } from 'mainstem/client'
import { memo, type ReactNode, useMemo } from 'react'
import { countChanges, type DiffLine, diffTexts, type FileDiff, parseDiff, wholeDiff } from './diff.ts'
import { DiffLines, type DiffLinesProps } from './diff-lines.tsx'
import { languageOfFile } from './languages.ts'
import { PathText } from './path-text.tsx'
import { useRelativePaths } from './workspace.ts'

export function linesOfFile({ diff, before, after }: FileDiff): DiffLine[] {
  if (diff !== undefined) return parseDiff(diff)
  return before === undefined && after === undefined ? [] : diffTexts(before ?? '', after ?? '')
}

/** Every line of a change that someone decides about. */
function everyLine({ diff, before, after }: FileDiff, startsAt: number | undefined): DiffLine[] {
  return diff === undefined ? wholeDiff(before, after, startsAt) : parseDiff(diff, true)
}

interface DiffViewProps extends Pick<DiffLinesProps, 'split' | 'onComment' | 'below'> {
  file: FileDiff
  open?: boolean
  /** Shows every line of both texts, for a change that someone decides about. */
  whole?: boolean
  /** What kind of change it is, instead of the word of the file. */
  label?: string
  /** The line of the file in which both texts begin; with `whole`, lines have no numbers without it. */
  startsAt?: number | undefined
  /** Buttons of the heading. */
  actions?: ReactNode
}

/** The change of one file. */
export const DiffView = memo(function DiffView(props: DiffViewProps) {
  const { file, open = true, whole = false, label, startsAt, actions, ...rest } = props
  const { path, from, change } = file
  const lines = useMemo(
    () => (whole ? everyLine(file, startsAt) : linesOfFile(file)),
    [file, whole, startsAt],
  )
  const language = languageOfFile(path)
  const relative = useRelativePaths()
  return (
    <details open={open} className="group/file overflow-hidden rounded-md border border-line bg-panel">
      <summary className="flex items-center gap-2 border-line bg-raised px-2 py-1 group-open/file:border-b">
        <code
          className={`min-w-0 flex-1 ${whole ? 'wrap-anywhere whitespace-pre-wrap' : 'flex items-center gap-1'}`}
        >
          {from !== undefined && <>{escapeInvisible(from)} → </>}
          {whole ? escapeInvisible(relative.path(path)) : <PathText path={path} />}
        </code>
        {actions}
        <span className="text-xs text-soft">{label ?? change}</span>
        <Totals lines={lines} />
      </summary>
      {lines.length === 0 ? (
        <p className="px-2 py-1 text-xs text-soft">The agent reported no content for this change.</p>
      ) : (
        <section aria-label={`Diff of ${escapeInvisible(path)}`}>
          <DiffLines lines={lines} language={language} {...rest} />
        </section>
      )}
    </details>
  )
})

/** The number of added and removed lines. */
export function Totals({ lines }: { lines: readonly DiffLine[] }) {
  const { added, removed } = useMemo(() => countChanges(lines), [lines])
  return <Counts added={added} removed={removed} />
}

export function Counts({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="flex gap-1 font-mono text-xs tabular-nums">
      <span className="text-good">+{added}</span>
      <span className="text-bad">−{removed}</span>
    </span>
  )
}
