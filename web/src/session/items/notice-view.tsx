import type { NoticeItem } from 'mainstem/client'
import { showHidden } from '../../text/hidden.ts'

const LOOKS = { info: 'text-soft', warning: 'text-ask', error: 'text-bad' } as const

export function NoticeView({ item: { level, code, message } }: { item: NoticeItem }) {
  return (
    <p className={`text-xs break-words ${LOOKS[level]}`}>
      {level !== 'info' && <span className="mr-1 font-mono">{code}</span>}
      {showHidden(message)}
    </p>
  )
}
