import { useEffect, useState } from 'react'
import { client, leftOut, messageOf } from '../../app/client.ts'
import { changesOf, type PlacedChange } from './changed-files.ts'

const PAGE = 500

export interface Changes {
  changes: readonly PlacedChange[]
  loaded: boolean
  error: string | undefined
}

/** Every change of a file in a log, from its first entry on, however much of the conversation is on screen. */
export function useChanges(session: string, head: number): Changes {
  const [state, setState] = useState<Changes & { after: number }>({
    changes: [],
    loaded: false,
    error: undefined,
    after: 0,
  })
  const { after, loaded } = state
  useEffect(() => {
    if (loaded && after >= head) return
    const stop = new AbortController()
    client
      .page(session, { after, limit: PAGE, types: ['file.changed'] }, stop.signal)
      .then(({ entries = [], next }) => {
        // A page also ends where it has enough bytes, so only an empty one is the last.
        const isLast = entries.length === 0
        setState((known) => ({
          changes: entries.length === 0 ? known.changes : [...known.changes, ...changesOf(entries)],
          loaded: isLast,
          error: undefined,
          after: isLast ? Math.max(head, Number(next)) : Number(next),
        }))
      })
      .catch((thrown: unknown) => {
        if (stop.signal.aborted || leftOut(thrown)) return
        setState((known) => ({ ...known, loaded: true, after: head, error: messageOf(thrown) }))
      })
    return () => stop.abort()
  }, [session, head, after, loaded])
  return state
}
