import { useEffect, useState } from 'react'

/** A piece of a line with the class of its colour; empty for plain text. */
export interface CodeToken {
  readonly text: string
  readonly look: string
}

export type TokenLines = readonly (readonly CodeToken[])[]

/** Longer texts stay plain: colouring them would block the page. */
const LONGEST = 60_000

/** Coloured texts that are kept: a list that scrolls asks for the same ones again. */
const KEPT = 300

const known = new Map<string, TokenLines>()

/** The tokens of a text, if its language has a grammar. The grammars are loaded with the first text. */
export async function highlight(text: string, language: string | undefined): Promise<TokenLines | undefined> {
  if (language === undefined || text.length > LONGEST || text === '') return undefined
  const key = `${language}\n${text}`
  const found = known.get(key)
  if (found) return found
  const { tokenLines } = await import('./highlighter.ts')
  const lines = tokenLines(text, language)
  if (!lines) return undefined
  known.set(key, lines)
  for (const oldest of known.keys()) {
    if (known.size <= KEPT) break
    known.delete(oldest)
  }
  return lines
}

/** The tokens of a text once they are there; undefined until then, and for plain texts. */
export function useHighlight(text: string, language: string | undefined): TokenLines | undefined {
  const [lines, setLines] = useState(() => known.get(`${language}\n${text}`))
  useEffect(() => {
    let isCurrent = true
    setLines(known.get(`${language}\n${text}`))
    void highlight(text, language).then((found) => isCurrent && setLines(found))
    return () => {
      isCurrent = false
    }
  }, [text, language])
  return lines
}
