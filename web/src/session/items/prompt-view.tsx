import type { PromptItem } from 'mainstem/client'
import { useState } from 'react'
import { signIn } from '../../app/client.ts'
import { useStore } from '../../app/store.ts'
import { bytes } from '../../text/format.ts'
import { showHidden } from '../../text/hidden.ts'
import { Button } from '../../ui/button.tsx'

/** Characters of a prompt that are shown at first. */
const FIRST = 6_000

/** A prompt in a bubble as wide as its text. */
export function PromptView({ item: { text, steered, turn, principal } }: { item: PromptItem }) {
  const state = useStore(signIn)
  const isOther = principal !== undefined && state.state === 'in' && principal !== state.server.principal
  const [whole, setWhole] = useState(false)
  const isLong = text.length > FIRST && !whole
  return (
    <div
      className="flex flex-col items-end gap-1 pt-3"
      title={turn === undefined ? undefined : `Turn ${turn}`}
    >
      <div className="w-fit max-w-[85%] rounded-2xl rounded-br-md border border-line bg-raised px-3.5 py-2">
        <p className="break-words whitespace-pre-wrap">
          {showHidden(isLong ? `${text.slice(0, FIRST)}…` : text)}
        </p>
        {isLong && <Button onClick={() => setWhole(true)}>Show all {bytes(text.length)}</Button>}
      </div>
      {isOther && <span className="text-xs text-soft">Sent by {showHidden(principal)}</span>}
      {steered !== undefined && (
        <span className="text-xs text-soft">
          Sent during the turn{steered === 'restarted' ? ', which started again' : ''}
        </span>
      )}
    </div>
  )
}
