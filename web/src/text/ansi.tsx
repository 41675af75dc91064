import { AnsiUp } from 'ansi_up'
import { memo, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { bytes } from './format.ts'
import { sanitize } from './sanitize.ts'

/** Characters shown at first and added by each click: a browser lays out this much without a pause. */
const CHUNK = 24_000

/** Terminal output with its colours. Long output shows its end first, where the result is. */
export const TerminalText = memo(function TerminalText({ text }: { text: string }) {
  const [shown, setShown] = useState(CHUNK)
  const cut = Math.max(0, text.length - shown)
  const start = cut === 0 ? 0 : text.indexOf('\n', cut) + 1 || cut
  return (
    <div>
      {start > 0 && (
        <button
          type="button"
          className="mb-1 rounded border border-line px-2 py-0.5 text-xs text-soft hover:text-ink"
          onClick={() => setShown(shown + CHUNK)}
        >
          Show more: {bytes(start)} before this
        </button>
      )}
      <Coloured text={start === 0 ? text : text.slice(start)} />
    </div>
  )
})

function Coloured({ text }: { text: string }) {
  const place = useRef<HTMLPreElement>(null)
  const fragment = useMemo(() => (text.includes('\u001b') ? coloured(text) : undefined), [text])
  useLayoutEffect(() => {
    if (fragment) place.current?.replaceChildren(fragment.cloneNode(true))
  }, [fragment])
  const look = 'whitespace-pre-wrap break-words leading-snug'
  if (fragment) return <pre ref={place} className={look} />
  return <pre className={look}>{text}</pre>
}

function coloured(text: string): DocumentFragment {
  const ansi = new AnsiUp()
  ansi.use_classes = true
  ansi.escape_html = true
  // Links in output are text: a terminal cannot make anyone follow one.
  ansi.url_allowlist = {}
  return sanitize(ansi.ansi_to_html(text))
}
