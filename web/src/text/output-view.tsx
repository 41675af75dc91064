import { memo, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { ScrollRegion } from '../ui/scroll-region.tsx'
import { TerminalLines } from './ansi.tsx'
import { bytes } from './format.ts'
import { endAfter, piecesOf, placesOf, startBefore } from './output-lines.ts'

/** Outputs with fewer lines need no tools. */
const SHORT = 20

/** The output of a command. It opens at its end, where the result is; a long one can be searched. */
export const OutputView = memo(function OutputView({ text }: { text: string }) {
  const pieces = useMemo(() => piecesOf(text), [text])
  const [shown, setShown] = useState<{ from: number; to: number }>()
  const [found, setFound] = useState<number>()
  const region = useRef<HTMLElement>(null)
  const { from, to } = shown ?? { from: startBefore(pieces, pieces.length), to: pieces.length }
  const visible = useMemo(() => pieces.slice(from, to), [pieces, from, to])
  // A region that shows the end stays there while the output grows.
  const atEnd = shown === undefined
  useEffect(() => {
    if (atEnd && visible.length > 0 && region.current) region.current.scrollTop = region.current.scrollHeight
  }, [atEnd, visible])
  const toStart = () => {
    setShown({ from: 0, to: endAfter(pieces, 0) })
    region.current?.scrollTo({ top: 0 })
  }
  const toEnd = () => {
    setShown(undefined)
    region.current?.scrollTo({ top: region.current.scrollHeight })
  }
  const toPlace = (place: number | undefined) => {
    setFound(place)
    if (place === undefined || (place >= from && place < to)) return
    const start = startBefore(pieces, Math.min(pieces.length, place + SHORT))
    setShown({ from: start, to: endAfter(pieces, start) })
  }
  const lines = pieces.at(-1)?.line ?? 0
  return (
    <div>
      <div className="flex flex-wrap items-center gap-1 text-xs text-soft">
        <span className="mr-auto">
          {lines} {lines === 1 ? 'line' : 'lines'} of output · {bytes(text.length)}
        </span>
        {lines > SHORT && (
          <>
            <OutputSearch pieces={pieces} onPlace={toPlace} />
            <Button look="quiet" size="small" onClick={toStart}>
              First
            </Button>
            <Button look="quiet" size="small" onClick={toEnd}>
              Last
            </Button>
          </>
        )}
        <CopyButton text={text} />
      </div>
      <ScrollRegion
        ref={region}
        label="Output"
        className="max-h-80 overflow-auto rounded bg-raised px-2 py-1"
      >
        {from > 0 && (
          <More
            label={`Show earlier lines (${from} before these)`}
            onClick={() => setShown({ from: startBefore(pieces, from), to })}
          />
        )}
        <TerminalLines pieces={visible} first={from} marked={found} />
        {to < pieces.length && (
          <More
            label={`Show later lines (${pieces.length - to} after these)`}
            onClick={() => setShown({ from, to: endAfter(pieces, to) })}
          />
        )}
      </ScrollRegion>
    </div>
  )
})

function More({ label, onClick }: { label: string; onClick(): void }) {
  return (
    <button type="button" className="block py-1 text-xs text-accent hover:underline" onClick={onClick}>
      {label}
    </button>
  )
}

interface OutputSearchProps {
  pieces: ReturnType<typeof piecesOf>
  onPlace(place: number | undefined): void
}

/** Finds a text in the whole output, the last place first. Enter goes to the one before. */
function OutputSearch({ pieces, onPlace }: OutputSearchProps) {
  const id = useId()
  const [words, setWords] = useState('')
  const [at, setAt] = useState(0)
  const wanted = useDeferredValue(words)
  const places = useMemo(() => placesOf(pieces, wanted), [pieces, wanted])
  const go = (index: number, among = places) => {
    const next = among.length === 0 ? 0 : (index + among.length) % among.length
    setAt(next)
    onPlace(among[next])
  }
  return (
    <form
      className="flex items-center gap-1"
      onSubmit={(event) => {
        event.preventDefault()
        go(at - 1)
      }}
    >
      <label htmlFor={id} className="sr-only">
        Search the output
      </label>
      <input
        id={id}
        type="search"
        placeholder="Search"
        className="h-6 w-28 px-1.5 py-0 text-xs"
        value={words}
        onChange={(event) => {
          setWords(event.target.value)
          const found = placesOf(pieces, event.target.value)
          go(found.length - 1, found)
        }}
      />
      {words !== '' && (
        <span role="status" className="tabular-nums">
          {places.length === 0 ? 'none' : `${Math.min(at + 1, places.length)} of ${places.length}`}
        </span>
      )}
    </form>
  )
}
