import { escapeInvisible } from 'mainstem/client'
import { Fragment } from 'react'
import { keyed } from '../ui/keyed.ts'
import { CodeLine } from './code-line.tsx'
import { useHighlight } from './highlight.ts'

/** Source text with its colours, and invisible characters as escapes. */
export function CodeText({ text, language }: { text: string; language: string | undefined }) {
  const shown = escapeInvisible(text)
  const lines = useHighlight(shown, language)
  if (!lines) return shown
  return keyed(lines, (tokens) => tokens.map((token) => token.text).join('')).map(([key, tokens], index) => (
    <Fragment key={key}>
      {index > 0 && '\n'}
      <CodeLine tokens={tokens} />
    </Fragment>
  ))
}
