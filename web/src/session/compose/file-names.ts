import { useEffect, useState } from 'react'
import { client, leftOut } from '../../app/client.ts'

/** Pause after the last key before names are looked up. */
const PAUSE_MS = 120

/** A word with `@` at its start, in which the cursor is. */
export interface FileWord {
  /** Without the `@`. */
  text: string
  start: number
  end: number
}

/** The `@` word that ends at the cursor. An `@` inside of a word, as in an address of e-mail, begins none. */
export function fileWordAt(text: string, cursor: number): FileWord | undefined {
  const found = /(?:^|\s)@([^\s@]*)$/.exec(text.slice(0, cursor))
  const word = found?.[1]
  return word === undefined ? undefined : { text: word, start: cursor - word.length - 1, end: cursor }
}

const NONE: readonly string[] = []

/** Names of files for a word; none without a word. */
export function useFileNames(cwd: string, word: string | undefined): readonly string[] {
  const [found, setFound] = useState<{ word: string; names: readonly string[] }>()
  useEffect(() => {
    if (word === undefined) return
    const stop = new AbortController()
    const timer = setTimeout(() => {
      client
        .files(cwd, word.replaceAll('/', ' '), 12, stop.signal)
        .then(({ files }) => setFound({ word, names: files }))
        // Completion is an extra: a directory that this server does not have offers no names.
        .catch((thrown: unknown) => stop.signal.aborted || leftOut(thrown) || setFound({ word, names: NONE }))
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [cwd, word])
  return word === undefined || !found ? NONE : found.names
}
