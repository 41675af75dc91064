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

/** Why the buttons that allow are not enabled yet. */
export function UnreadHint({ gate: { readiness } }: { gate: Gate }) {
  if (readiness !== 'unread') return null
  return <p className="w-full text-xs text-ask">Read to the end to allow this.</p>
}
