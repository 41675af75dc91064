import type { SearchHit, SearchResult } from 'mainstem/client'
import { Fragment, useEffect, useState } from 'react'
import { client, leftOut, messageOf } from '../app/client.ts'
import { go } from '../app/navigation.ts'
import { sessionHref } from '../app/route.ts'
import { shortPath } from '../text/format.ts'
import { Badge } from '../ui/badge.tsx'
import { Notice } from '../ui/notice.tsx'
import { takeFocus } from '../ui/take-focus.ts'

/** Pause after the last key before a search starts. */
const PAUSE_MS = 200

/** Finds words in all sessions. The words are in the address, so that a search can be shared and repeated. */
export default function SearchScreen({ query }: { query: string }) {
  const { result, error } = useResult(query)
  return (
    <div className="h-full overflow-y-auto p-4 sm:p-6">
      <div className="mx-auto max-w-3xl space-y-4">
        <h1 className="text-lg font-semibold">Search</h1>
        <input
          type="search"
          ref={takeFocus}
          aria-label="Search all sessions"
          placeholder="Words in prompts, messages, tool calls and their output"
          className="w-full text-base"
          value={query}
          onChange={(event) => go({ screen: 'search', query: event.target.value })}
        />
        {error !== undefined && <Notice level="error">{error}</Notice>}
        {!result && error === undefined && query.trim() !== '' && <p className="text-soft">Searching…</p>}
        {result?.hits.length === 0 && <p className="text-soft">No entry contains all of these words.</p>}
        {result?.complete === false && (
          <Notice level="info">Older sessions are still being indexed. Search again in a moment.</Notice>
        )}
        <ul className="space-y-2">
          {result?.hits.map((hit) => (
            <Hit key={`${hit.session} ${hit.seq}`} hit={hit} />
          ))}
        </ul>
      </div>
    </div>
  )
}

function useResult(query: string): { result: SearchResult | undefined; error: string | undefined } {
  const [result, setResult] = useState<SearchResult>()
  const [error, setError] = useState<string>()
  useEffect(() => {
    setError(undefined)
    if (query.trim() === '') return setResult(undefined)
    const stop = new AbortController()
    const timer = setTimeout(() => {
      client
        .search(query, { signal: stop.signal })
        .then(setResult)
        .catch((thrown: unknown) => stop.signal.aborted || leftOut(thrown) || setError(messageOf(thrown)))
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [query])
  return { result, error }
}

function Hit({ hit }: { hit: SearchHit }) {
  const { session, seq, at, type, agent, cwd, title } = hit
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
          <Snippet hit={hit} />
        </span>
      </a>
    </li>
  )
}

/** The snippet with its matches marked. */
function Snippet({ hit: { snippet, marks } }: { hit: SearchHit }) {
  return marks.map(({ start, end }, index) => (
    <Fragment key={start}>
      {snippet.slice(marks[index - 1]?.end ?? 0, start)}
      <mark className="rounded bg-ask-wash text-ask">{snippet.slice(start, end)}</mark>
      {index === marks.length - 1 && snippet.slice(end)}
    </Fragment>
  ))
}
