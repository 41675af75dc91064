import type { NoticeItem } from 'mainstem/client'
import { showHidden } from '../../text/hidden.ts'
import { LongText } from '../../text/long-text.tsx'

const LOOKS = { info: 'text-soft', warning: 'text-ask', error: 'text-bad' } as const

export function NoticeView({ item: { level, code, message, recap } }: { item: NoticeItem }) {
  const text = (
    <p className={`text-xs break-words ${LOOKS[level]}`}>
      {level !== 'info' && <span className="mr-1 font-mono">{code}</span>}
      {showHidden(message)}
    </p>
  )
  if (recap === undefined) return text
  return (
    <div>
      {text}
      <details className="text-xs text-soft">
        <summary>Recap that the agent is told</summary>
        <LongText text={recap} />
      </details>
    </div>
  )
}
