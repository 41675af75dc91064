import type { CodeToken } from './highlight.ts'

/** The tokens of one line. Their order never changes, so the place of a token identifies it. */
export function CodeLine({ tokens }: { tokens: readonly CodeToken[] }) {
  let at = 0
  return tokens.map(({ text, look }) => {
    const start = at
    at += text.length
    return look === '' ? (
      text
    ) : (
      <span key={start} className={look}>
        {text}
      </span>
    )
  })
}
