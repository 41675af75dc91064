import { useState } from 'react'
import { CodeText } from './code-text.tsx'
import { bytes } from './format.ts'

/** Lines and characters shown at first: a browser lays out this much without a pause. */
const FIRST = { lines: 400, characters: 24_000 }

/** The number of leading lines that are shown at first; at least one. */
export function firstLines(lines: readonly string[]): number {
  let characters = 0
  const tooMany = lines.findIndex((line, index) => {
    characters += line.length + 1
    return index >= FIRST.lines || (index > 0 && characters > FIRST.characters)
  })
  return tooMany === -1 ? lines.length : tooMany
}

/** A wrapped text. The rest of a long one is rendered on request, and marked until then. */
export function LongText({ text, language }: { text: string; language?: string | undefined }) {
  const [open, setOpen] = useState(false)
  const lines = text.split('\n')
  const count = open ? lines.length : firstLines(lines)
  const shown = lines.slice(0, count).join('\n')
  return (
    <pre className="rounded bg-raised px-2 py-1 wrap-anywhere whitespace-pre-wrap">
      <CodeText text={shown} language={language} />
      {count < lines.length && (
        <ShowRest
          lines={lines.length - count}
          characters={text.length - shown.length}
          onOpen={() => setOpen(true)}
        />
      )}
    </pre>
  )
}

interface ShowRestProps {
  lines: number
  characters: number
  onOpen(): void
}

/** Opens the rest of a text. The mark tells that not all of the text was rendered. */
export function ShowRest({ lines, characters, onOpen }: ShowRestProps) {
  return (
    <button
      type="button"
      data-rest
      className="block w-full px-2 py-1 text-left font-sans text-xs text-accent"
      onClick={onOpen}
    >
      Show the remaining {lines} {lines === 1 ? 'line' : 'lines'} ({bytes(characters)})
    </button>
  )
}
