import type { ReactNode } from 'react'

const LOOKS = {
  plain: 'bg-raised text-soft',
  ask: 'bg-ask-wash text-ask',
  good: 'bg-good-wash text-good',
  bad: 'bg-bad-wash text-bad',
  accent: 'bg-accent-wash text-accent',
} as const

export type BadgeLook = keyof typeof LOOKS

export function Badge({ look = 'plain', children }: { look?: BadgeLook; children: ReactNode }) {
  return (
    <span className={`inline-block rounded px-1.5 text-xs leading-5 whitespace-nowrap ${LOOKS[look]}`}>
      {children}
    </span>
  )
}
