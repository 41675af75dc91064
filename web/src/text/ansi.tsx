import { AnsiUp } from 'ansi_up'
import { memo, useLayoutEffect, useMemo, useRef } from 'react'
import { showHidden } from './hidden.ts'
import { showHiddenIn } from './hidden-in.ts'
import { type OutputPiece, piecesOf, startBefore } from './output-lines.ts'
import { sanitize } from './sanitize.ts'

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

/** One element for each piece. Colours that a line begins go on in the next ones. */
function coloured(pieces: readonly OutputPiece[]): DocumentFragment {
  if (!pieces.some(({ text }) => text.includes('\u001b'))) return plain(pieces)
  const ansi = new AnsiUp()
  ansi.use_classes = true
  ansi.escape_html = true
  // Links in output are text: a terminal cannot make anyone follow one.
  ansi.url_allowlist = {}
  const lines = pieces.map(
    ({ text, endsLine }) => `<span>${ansi.ansi_to_html(text)}${endsLine ? '\n' : ''}</span>`,
  )
  // All lines at once: sanitizing each by itself takes several times as long.
  const fragment = sanitize(lines.join(''))
  showHiddenIn(fragment)
  return fragment
}

function plain(pieces: readonly OutputPiece[]): DocumentFragment {
  const fragment = document.createDocumentFragment()
  for (const { text, endsLine } of pieces) {
    const line = document.createElement('span')
    line.textContent = `${showHidden(text)}${endsLine ? '\n' : ''}`
    fragment.append(line)
  }
  return fragment
}
