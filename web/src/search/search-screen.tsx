import type { SearchHit } from 'mainstem/client'
import { useEffect, useState } from 'react'
import { client, leftOut, messageOf } from '../app/client.ts'
import { go } from '../app/navigation.ts'
import { sessionHref } from '../app/route.ts'
import { shortPath } from '../text/format.ts'
import { Badge } from '../ui/badge.tsx'
import { Notice } from '../ui/notice.tsx'

/** Pause after the last key before a search starts. */
const PAUSE_MS = 200

/** Finds words in all sessions. The words are in the address, so that a search can be shared and repeated. */
export default function SearchScreen({ query }: { query: string }) {
  const { hits, error } = useHits(query)
  return (
    <div className="h-full overflow-y-auto p-4 sm:p-6">
      <div className="mx-auto max-w-3xl space-y-4">
        <h1 className="text-lg font-semibold">Search</h1>
        <input
          type="search"
          // biome-ignore lint/a11y/noAutofocus: the person just asked for this field
          autoFocus
          aria-label="Search all sessions"
          placeholder="Words in prompts, messages, tool calls and their output"
          className="w-full text-base"
          value={query}
          onChange={(event) => go({ screen: 'search', query: event.target.value })}
        />
        {error !== undefined && <Notice level="error">{error}</Notice>}
        {hits && hits.length === 0 && <p className="text-soft">No entry contains all of these words.</p>}
        <ul className="space-y-2">
          {hits?.map((hit) => (
            <Hit key={`${hit.session} ${hit.seq}`} hit={hit} query={query} />
          ))}
        </ul>
      </div>
    </div>
  )
}

function useHits(query: string): { hits: readonly SearchHit[] | undefined; error: string | undefined } {
  const [hits, setHits] = useState<readonly SearchHit[]>()
  const [error, setError] = useState<string>()
  useEffect(() => {
    setHits(undefined)
    if (query.trim() === '') return
    const stop = new AbortController()
    const timer = setTimeout(() => {
      client
        .search(query, { signal: stop.signal })
        .then(setHits)
        .catch((thrown: unknown) => stop.signal.aborted || leftOut(thrown) || setError(messageOf(thrown)))
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [query])
  return { hits, error }
}

function Hit({ hit, query }: { hit: SearchHit; query: string }) {
  const { session, seq, at, type, agent, cwd, snippet, title } = hit
  return (
    <li className="rounded-lg border border-line bg-panel px-3 py-2">
      <a href={sessionHref(session, 'events', seq)} className="block">
        <span className="flex flex-wrap items-center gap-2 text-xs text-soft">
          <Badge>{type}</Badge>
          <span>{agent}</span>
          <span className="truncate">{shortPath(cwd)}</span>
          <span className="min-w-0 flex-1 truncate">{title}</span>
          <span>{new Date(at).toLocaleString()}</span>
        </span>
        <span className="mt-1 block break-words whitespace-pre-wrap">
          <Marked text={snippet} query={query} />
        </span>
      </a>
    </li>
  )
}

/** The text with every word of the query marked. */
function Marked({ text, query }: { text: string; query: string }) {
  const words = query
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, '\\$&'))
  const parts = text.split(new RegExp(`(${words.join('|')})`, 'i'))
  return parts.map((part, index) => {
    if (index % 2 === 0) return part
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text never move
      <mark key={index} className="rounded bg-ask-wash text-ask">
        {part}
      </mark>
    )
  })
}
