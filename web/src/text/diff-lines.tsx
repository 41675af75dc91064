import { escapeInvisible } from 'mainstem/client'
import { type ReactNode, useMemo, useState } from 'react'
import { keyed } from '../ui/keyed.ts'
import { CodeLine } from './code-line.tsx'
import { type DiffLine, pairsOf } from './diff.ts'
import { type CodeToken, useHighlight } from './highlight.ts'
import { firstLines, ShowRest } from './long-text.tsx'

const LOOKS: Record<DiffLine['kind'], string> = {
  same: '',
  added: 'bg-good-wash',
  removed: 'bg-bad-wash',
  hunk: 'bg-raised text-soft',
}
const SIGNS: Record<DiffLine['kind'], string> = { same: ' ', added: '+', removed: '−', hunk: '' }
const WORDS: Record<DiffLine['kind'], string> = { same: '', added: 'added: ', removed: 'removed: ', hunk: '' }

type TokensOf = (line: DiffLine) => readonly CodeToken[] | undefined

/** The colours of both texts of a diff. */
function useDiffColours(lines: readonly DiffLine[], language: string | undefined): TokensOf {
  const sides = useMemo(() => {
    const before = lines.filter(({ kind }) => kind === 'same' || kind === 'removed')
    const after = lines.filter(({ kind }) => kind === 'same' || kind === 'added')
    return { before, after, old: textOf(before), now: textOf(after) }
  }, [lines])
  const old = useHighlight(sides.old, language)
  const now = useHighlight(sides.now, language)
  return useMemo(() => {
    const tokens = new Map<DiffLine, readonly CodeToken[] | undefined>()
    for (const [index, line] of sides.before.entries()) tokens.set(line, old?.[index])
    for (const [index, line] of sides.after.entries()) tokens.set(line, now?.[index])
    return (line) => tokens.get(line)
  }, [sides, old, now])
}

const textOf = (side: readonly DiffLine[]) => side.map(({ text }) => escapeInvisible(text)).join('\n')

export interface DiffLinesProps {
  lines: readonly DiffLine[]
  language: string | undefined
  split?: boolean
  /** Called with a line that someone wants to comment on. */
  onComment?: ((line: DiffLine) => void) | undefined
  /** What stands below a line, such as a comment. */
  below?: ((line: DiffLine) => ReactNode) | undefined
}

/** The lines of a diff with their numbers and colours, in one column or in two. */
export function DiffLines({ lines, language, split = false, onComment, below }: DiffLinesProps) {
  const [open, setOpen] = useState(false)
  const count = open ? lines.length : firstLines(lines.map(({ text }) => text))
  const shown = useMemo(() => lines.slice(0, count), [lines, count])
  const rest = lines.slice(count)
  const tokensOf = useDiffColours(shown, language)
  const row = { tokensOf, onComment }
  return (
    <div className="diff py-1 font-mono text-xs leading-snug">
      {split
        ? keyed(pairsOf(shown), ({ left, right }) => `${left?.text} ${right?.text}`).map(
            ([key, { left, right }]) => (
              <div key={key}>
                {left?.kind === 'hunk' ? (
                  <Row line={left} {...row} />
                ) : (
                  <div className="grid grid-cols-2 divide-x divide-line">
                    <Row line={left} side="before" {...row} />
                    <Row line={right} side="after" {...row} />
                  </div>
                )}
                {right && below?.(right)}
                {left && left !== right && below?.(left)}
              </div>
            ),
          )
        : keyed(shown, ({ kind, text }) => kind + text).map(([key, line]) => (
            <div key={key}>
              <Row line={line} {...row} />
              {below?.(line)}
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

interface RowProps {
  line: DiffLine | undefined
  /** The column in which the line stands; absent for one column. */
  side?: 'before' | 'after'
  tokensOf: TokensOf
  onComment: ((line: DiffLine) => void) | undefined
}

function Row({ line, side, tokensOf, onComment }: RowProps) {
  if (!line) return <div className="bg-raised/60" />
  const { kind, text } = line
  if (kind === 'hunk')
    return <div className={`px-2 py-0.5 wrap-anywhere ${LOOKS.hunk}`}>{escapeInvisible(text)}</div>
  const tokens = tokensOf(line)
  const numbers =
    side === undefined ? [line.before, line.after] : [side === 'before' ? line.before : line.after]
  const isNumbered = line.before !== undefined || line.after !== undefined
  return (
    <div className={`group relative flex min-w-0 ${LOOKS[kind]}`}>
      {isNumbered && <Numbers numbers={numbers} />}
      {onComment && (
        <button
          type="button"
          className="absolute top-0 left-0 h-full bg-accent px-1 font-sans text-accent-ink opacity-0 group-hover:opacity-100 focus-visible:opacity-100 [@media(hover:none)]:bg-transparent [@media(hover:none)]:pr-3 [@media(hover:none)]:text-accent [@media(hover:none)]:opacity-100"
          aria-label={
            kind === 'removed' ? `Comment on removed line ${line.before}` : `Comment on line ${line.after}`
          }
          onClick={() => onComment(line)}
        >
          +
        </button>
      )}
      <span aria-hidden="true" className="w-4 shrink-0 pl-1 text-soft select-none">
        {SIGNS[kind]}
      </span>
      <span className="min-w-0 flex-1 pr-2 wrap-anywhere whitespace-pre-wrap">
        <span className="sr-only">{WORDS[kind]}</span>
        {tokens ? <CodeLine tokens={tokens} /> : escapeInvisible(text)}
        {text === '' && ' '}
      </span>
    </div>
  )
}

/** Numbers are no text of the file: selecting lines leaves them out. */
function Numbers({ numbers }: { numbers: readonly (number | undefined)[] }) {
  return numbers.map((number, index) => (
    <span
      key={index === 0 ? 'first' : 'second'}
      aria-hidden="true"
      data-number={number}
      className="diff-number w-9 shrink-0 pr-1 text-right text-soft tabular-nums select-none max-sm:first:hidden"
    />
  ))
}
