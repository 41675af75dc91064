import type { PromptItem } from 'mainstem/client'
import { useState } from 'react'
import { bytes } from '../../text/format.ts'
import { Button } from '../../ui/button.tsx'

/** Characters of a prompt that are shown at first. */
const FIRST = 6_000

export function PromptView({ item: { text, steered, turn } }: { item: PromptItem }) {
  const [whole, setWhole] = useState(false)
  const isLong = text.length > FIRST && !whole
  return (
    <div className="ml-auto max-w-[85%] rounded-lg border border-line bg-raised px-3 py-2 sm:ml-12 sm:max-w-none">
      <p className="mb-0.5 text-xs text-soft">{captionOf(steered, turn)}</p>
      <p className="break-words whitespace-pre-wrap">{isLong ? `${text.slice(0, FIRST)}…` : text}</p>
      {isLong && <Button onClick={() => setWhole(true)}>Show all {bytes(text.length)}</Button>}
    </div>
  )
}

function captionOf(steered: PromptItem['steered'], turn: number | undefined): string {
  if (steered === undefined) return `You · turn ${turn ?? ''}`
  return `You, during the turn${steered === 'restarted' ? ' (restarted it)' : ''}`
}
