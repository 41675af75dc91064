import { escapeInvisible } from 'mainstem/client'
import { memo, useMemo, useState } from 'react'
import { keyed } from '../ui/keyed.ts'
import { countChanges, type DiffLine, diffTexts, parseDiff, wholeDiff } from './diff.ts'
import { firstLines, ShowRest } from './long-text.tsx'

const LOOKS: Record<DiffLine['kind'], string> = {
  same: '',
  added: 'bg-good-wash',
  removed: 'bg-bad-wash',
  hunk: 'text-soft bg-raised',
}
const SIGNS: Record<DiffLine['kind'], string> = { same: ' ', added: '+', removed: '−', hunk: '' }

export interface FileDiff {
  path: string
  change: 'created' | 'modified' | 'deleted' | 'renamed'
  from?: string | undefined
  diff?: string | undefined
  before?: string | undefined
  after?: string | undefined
}

export function linesOfFile({ diff, before, after }: FileDiff): DiffLine[] {
  if (diff !== undefined) return parseDiff(diff)
  return before === undefined && after === undefined ? [] : diffTexts(before ?? '', after ?? '')
}

interface DiffViewProps {
  file: FileDiff
  open?: boolean
  /** Shows every line of both texts, for a change that someone decides about. */
  whole?: boolean
}

/** The change of one file. */
export const DiffView = memo(function DiffView({ file, open = true, whole = false }: DiffViewProps) {
  const { path, from, change, before, after } = file
  const lines = useMemo(
    () => (whole ? wholeDiff(before ?? '', after ?? '') : linesOfFile(file)),
    [file, whole, before, after],
  )
  const { added, removed } = useMemo(() => countChanges(lines), [lines])
  return (
    <details open={open} className="overflow-hidden rounded-md border border-line">
      <summary className="flex items-baseline gap-2 bg-raised px-2 py-1">
        <code className="min-w-0 flex-1 wrap-anywhere whitespace-pre-wrap">
          {from !== undefined && `${escapeInvisible(from)} → `}
          {escapeInvisible(path)}
        </code>
        <span className="text-xs text-soft">{change}</span>
        <span className="font-mono text-xs text-good">+{added}</span>
        <span className="font-mono text-xs text-bad">−{removed}</span>
      </summary>
      {lines.length === 0 ? (
        <p className="px-2 py-1 text-xs text-soft">The agent reported no content for this change.</p>
      ) : (
        <section aria-label={`Diff of ${escapeInvisible(path)}`}>
          <DiffLines lines={lines} />
        </section>
      )}
    </details>
  )
})

function DiffLines({ lines }: { lines: readonly DiffLine[] }) {
  const [open, setOpen] = useState(false)
  const count = open ? lines.length : firstLines(lines.map(({ text }) => text))
  const rest = lines.slice(count)
  return (
    <div className="py-1 font-mono text-xs leading-snug">
      {keyed(lines.slice(0, count), ({ kind, text }) => kind + text).map(([key, line]) => (
        <div key={key} className={`flex px-2 ${LOOKS[line.kind]}`}>
          <span aria-hidden="true" className="w-4 shrink-0 text-soft select-none">
            {SIGNS[line.kind]}
          </span>
          <span className="min-w-0 wrap-anywhere whitespace-pre-wrap">
            {escapeInvisible(line.text) || ' '}
          </span>
        </div>
      ))}
      {rest.length > 0 && (
        <ShowRest
          lines={rest.length}
          characters={rest.reduce((sum, { text }) => sum + text.length + 1, 0)}
          onOpen={() => setOpen(true)}
        />
      )}
    </div>
  )
}
