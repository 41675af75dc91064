import type { ReactNode } from 'react'
import { ScrollRegion } from '../ui/scroll-region.tsx'
import type { Gate } from './use-answer-gate.ts'

/** Everything that an answer applies to, in one scroll box. A card is never taller than its screen, so it can be seen whole. */
export function ReadBox({ gate, children }: { gate: Gate; children: ReactNode }) {
  return (
    <ScrollRegion
      ref={gate.box}
      label="Input"
      className="max-h-[max(3rem,min(35dvh,60dvh-13rem))] overflow-y-auto px-3"
    >
      <div className="space-y-2 py-2 wrap-anywhere">{children}</div>
    </ScrollRegion>
  )
}

/** Why `act`, the buttons that allow or answer, is not enabled yet. It leads on to the next part of the input. */
export function UnreadHint({ gate: { readiness, box }, act }: { gate: Gate; act: string }) {
  if (readiness !== 'unread') return null
  return (
    <button
      type="button"
      className="rounded px-1 text-left text-xs text-ask hover:underline"
      onClick={() => box.current?.scrollBy({ top: box.current.clientHeight * 0.85 })}
    >
      Read to the end to {act} ↓
    </button>
  )
}
