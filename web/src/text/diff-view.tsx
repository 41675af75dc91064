import { memo, useMemo, useState } from 'react'
import { keyed } from '../ui/keyed.ts'
import { ScrollRegion } from '../ui/scroll-region.tsx'
import { countChanges, type DiffLine, diffTexts, parseDiff } from './diff.ts'
import { unmasked } from './format.ts'

const LOOKS: Record<DiffLine['kind'], string> = {
  same: '',
  added: 'bg-good-wash',
  removed: 'bg-bad-wash',
  hunk: 'text-soft bg-raised',
}
const SIGNS: Record<DiffLine['kind'], string> = { same: ' ', added: '+', removed: '−', hunk: '' }

/** Lines shown at first. */
const FIRST = 400

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

/** The change of one file. */
export const DiffView = memo(function DiffView({ file, open = true }: { file: FileDiff; open?: boolean }) {
  const lines = useMemo(() => linesOfFile(file), [file])
  const { added, removed } = useMemo(() => countChanges(lines), [lines])
  const [limit, setLimit] = useState(FIRST)
  return (
    <details open={open} className="overflow-hidden rounded-md border border-line">
      <summary className="flex items-center gap-2 bg-raised px-2 py-1">
        <code className="min-w-0 flex-1 truncate" title={file.path}>
          {file.from !== undefined && `${unmasked(file.from)} → `}
          {unmasked(file.path)}
        </code>
        <span className="text-xs text-soft">{file.change}</span>
        <span className="font-mono text-xs text-good">+{added}</span>
        <span className="font-mono text-xs text-bad">−{removed}</span>
      </summary>
      {lines.length === 0 ? (
        <p className="px-2 py-1 text-xs text-soft">The agent reported no content for this change.</p>
      ) : (
        <ScrollRegion
          label={`Diff of ${file.path}`}
          className="overflow-x-auto font-mono text-xs leading-snug"
        >
          <div className="w-max min-w-full py-1">
            {keyed(lines.slice(0, limit), ({ kind, text }) => kind + text).map(([key, line]) => (
              <div key={key} className={`flex px-2 ${LOOKS[line.kind]}`}>
                <span aria-hidden="true" className="w-4 shrink-0 text-soft select-none">
                  {SIGNS[line.kind]}
                </span>
                <span className="whitespace-pre">{line.text || ' '}</span>
              </div>
            ))}
          </div>
        </ScrollRegion>
      )}
      {lines.length > limit && (
        <button
          type="button"
          className="px-2 py-1 text-xs text-accent"
          onClick={() => setLimit(lines.length)}
        >
          Show {lines.length - limit} more lines
        </button>
      )}
    </details>
  )
})
