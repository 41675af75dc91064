import type { ReactNode } from 'react'

const LOOKS = {
  info: 'border-line bg-raised',
  warning: 'border-transparent bg-ask-wash text-ask',
  error: 'border-transparent bg-bad-wash text-bad',
} as const

/** A message that explains a state of the page, with what to do about it. */
export function Notice({ level = 'info', children }: { level?: keyof typeof LOOKS; children: ReactNode }) {
  return (
    <div
      role={level === 'error' ? 'alert' : 'status'}
      className={`rounded-md border px-3 py-2 break-words ${LOOKS[level]}`}
    >
      {children}
    </div>
  )
}
