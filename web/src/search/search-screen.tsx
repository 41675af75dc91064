import { escapeInvisible, type SearchHit, type SearchResult, withRelativePaths } from 'mainstem/client'
import { Fragment, useEffect, useState } from 'react'
import { client, leftOut, messageOf } from '../app/client.ts'
import { go } from '../app/navigation.ts'
import { sessionHref } from '../app/route.ts'
import { useStore } from '../app/store.ts'
import { titleOf } from '../inbox/groups.ts'
import { inbox } from '../inbox/inbox-store.ts'
import { OUTCOMES } from '../session/outcome.ts'
import { folderName } from '../text/format.ts'
import { showHidden } from '../text/hidden.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { keyed } from '../ui/keyed.ts'
import { Notice } from '../ui/notice.tsx'
import { takeFocus } from '../ui/take-focus.ts'
import { bySession, kindOf, piecesOf, type SessionHits } from './by-session.ts'

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
        {query.trim() === '' && <SearchHelp />}
        <ul className="space-y-3">
          {result &&
            bySession(result.hits).map((found) => <FoundSession key={found.session} found={found} />)}
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

function SearchHelp() {
  return (
    <p className="text-soft">
      Finds words by their beginnings in prompts, answers, thinking, tool calls, file names and errors of all
      your sessions: <code>pagin feed</code> finds “paginate” and “feed” in one entry.
    </p>
  )
}

/** Hits of a session that are shown at first. */
const FIRST = 3

function FoundSession({ found: { session, hits } }: { found: SessionHits }) {
  const record = useStore(inbox).records.get(session)
  const [all, setAll] = useState(false)
  const [first] = hits
  if (!first) return null
  const { agent, cwd, title, at } = first
  return (
    <li className="rounded-lg border border-line bg-panel">
      <a
        href={sessionHref(session)}
        className="flex flex-wrap items-baseline gap-x-2 border-b border-line px-3 py-2 hover:bg-raised"
      >
        <span className="min-w-0 flex-1 truncate font-medium max-sm:basis-full max-sm:whitespace-normal">
          {record ? titleOf(record) : showHidden(title ?? agent)}
        </span>
        {record?.lastOutcome && record.lastOutcome !== 'completed' && (
          <Badge look={OUTCOMES[record.lastOutcome].look}>{OUTCOMES[record.lastOutcome].label}</Badge>
        )}
        <span className="text-xs text-soft" title={cwd}>
          {agent} · {folderName(cwd)} · {new Date(at).toLocaleDateString()}
        </span>
      </a>
      <ul>
        {(all ? hits : hits.slice(0, FIRST)).map((hit) => (
          <li key={hit.seq}>
            <a
              href={sessionHref(session, 'events', hit.seq)}
              className="flex gap-3 px-3 py-1.5 text-sm hover:bg-raised"
            >
              <span className="w-20 shrink-0 text-xs leading-5 text-soft">{kindOf(hit.type)}</span>
              <span className="line-clamp-2 min-w-0 break-words">
                <Snippet hit={hit} cwd={cwd} />
              </span>
            </a>
          </li>
        ))}
      </ul>
      {!all && hits.length > FIRST && (
        <Button look="quiet" size="small" className="m-1.5" onClick={() => setAll(true)}>
          {hits.length - FIRST} more in this session
        </Button>
      )}
    </li>
  )
}

/** The snippet with its matches marked. */
function Snippet({ hit, cwd }: { hit: SearchHit; cwd: string }) {
  return keyed(piecesOf(hit), ({ text }) => text).map(([key, { text, isMatch }]) =>
    isMatch ? (
      <mark key={key} className="rounded bg-ask-wash text-ask">
        {showHidden(text)}
      </mark>
    ) : (
      <Fragment key={key}>{escapeInvisible(withRelativePaths(text, cwd))}</Fragment>
    ),
  )
}
