import { memo, useLayoutEffect, useMemo, useRef } from 'react'
import { showHidden } from './hidden.ts'
import { type OutputPiece, piecesOf, startBefore } from './output-lines.ts'
import { newPen, spansOf, type TerminalSpan } from './terminal-spans.ts'

/** The last lines of a terminal output, with its colours. */
export const TerminalText = memo(function TerminalText({ text }: { text: string }) {
  const pieces = useMemo(() => piecesOf(text), [text])
  const from = startBefore(pieces, pieces.length)
  return <TerminalLines pieces={pieces.slice(from)} first={from} marked={undefined} />
})

interface TerminalLinesProps {
  pieces: readonly OutputPiece[]
  /** The place of the first piece in the whole output. */
  first: number
  /** The place of the piece to bring on screen. */
  marked: number | undefined
}

/** Pieces of an output. The marked one is scrolled to. */
export const TerminalLines = memo(function TerminalLines({ pieces, first, marked }: TerminalLinesProps) {
  const place = useRef<HTMLPreElement>(null)
  const fragment = useMemo(() => coloured(pieces), [pieces])
  useLayoutEffect(() => place.current?.replaceChildren(fragment.cloneNode(true)), [fragment])
  useLayoutEffect(() => {
    const line = marked === undefined ? undefined : place.current?.children[marked - first]
    if (!fragment || !line) return
    line.classList.add('output-match')
    line.scrollIntoView({ block: 'nearest' })
    return () => line.classList.remove('output-match')
  }, [marked, first, fragment])
  return <pre ref={place} className="leading-snug break-words whitespace-pre-wrap" />
})

/** One element for each piece. Its texts are text nodes, so nothing in an output can become markup. */
function coloured(pieces: readonly OutputPiece[]): DocumentFragment {
  const fragment = document.createDocumentFragment()
  const pen = newPen()
  for (const { text, endsLine } of pieces) {
    const line = document.createElement('span')
    for (const span of spansOf(text, pen)) line.append(nodeOf(span))
    if (endsLine) line.append('\n')
    fragment.append(line)
  }
  return fragment
}

function nodeOf({ text, classes }: TerminalSpan): Node | string {
  const shown = showHidden(text)
  if (classes === '') return shown
  const node = document.createElement('span')
  node.className = classes
  node.textContent = shown
  return node
}
