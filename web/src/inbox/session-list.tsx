import type { SessionRecord } from 'mainstem/client'
import { useMemo, useState } from 'react'
import { VList } from 'virtua'
import { go } from '../app/navigation.ts'
import { hrefOf, type Route } from '../app/route.ts'
import { useStore } from '../app/store.ts'
import { Button } from '../ui/button.tsx'
import { useKeys } from '../ui/keys.ts'
import { type Groups, groupsOf, matches } from './groups.ts'
import { inbox } from './inbox-store.ts'
import { SessionRow } from './session-row.tsx'

type Row = { heading: string; count: string } | { record: SessionRecord }

const HEADINGS: Record<keyof Groups, string> = { asking: 'Needs you', running: 'Running', done: 'Done' }

/** `hasMore`: older sessions, which are all done, are not here yet. */
function rowsOf(groups: Groups, hasMore: boolean): Row[] {
  const rows: Row[] = []
  for (const name of ['asking', 'running', 'done'] as const) {
    const records = groups[name]
    if (records.length === 0) continue
    const count = `${records.length}${hasMore && name === 'done' ? '+' : ''}`
    rows.push({ heading: HEADINGS[name], count }, ...records.map((record) => ({ record })))
  }
  return rows
}

/** Every session: those that need a person, those that run, those that are done. */
export function SessionList({ route }: { route: Route }) {
  const { records, loaded, next } = useStore(inbox)
  const [filter, setFilter] = useState('')
  const rows = useMemo(() => {
    const found =
      filter === '' ? [...records.values()] : [...records.values()].filter((one) => matches(one, filter))
    return rowsOf(groupsOf(found), next !== undefined)
  }, [records, filter, next])
  const current = route.screen === 'session' ? route.id : undefined
  const step = (by: number) => {
    const ids = rows.flatMap((row) => ('record' in row ? [row.record.id] : []))
    const id = ids[Math.min(ids.length - 1, Math.max(0, ids.indexOf(current ?? '') + by))]
    if (id !== undefined) go({ screen: 'session', id, tab: 'conversation', seq: undefined })
  }
  useKeys({ j: () => step(1), k: () => step(-1) })
  return (
    <nav aria-label="Sessions" className="flex min-h-0 flex-1 flex-col">
      <div className="px-2 pb-2">
        <input
          type="search"
          className="w-full"
          placeholder="Filter sessions"
          aria-label="Filter sessions"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      </div>
      {rows.length === 0 && (
        <p className="px-4 py-6 text-center text-soft">
          {!loaded ? 'Loading…' : filter ? 'No session matches.' : 'No sessions yet.'}
        </p>
      )}
      {filter !== '' && (
        <a
          href={hrefOf({ screen: 'search', query: filter })}
          className="px-4 pb-2 text-sm text-accent underline"
        >
          Search all texts for “{filter}”
        </a>
      )}
      <VList className="min-h-0 flex-1 px-2 pb-2">
        {rows.map((row) =>
          'record' in row ? (
            <SessionRow key={row.record.id} record={row.record} current={row.record.id === current} />
          ) : (
            <h2 key={row.heading} className="px-2.5 pt-3 pb-1 text-xs font-semibold text-soft">
              {row.heading} <span className="font-normal">{row.count}</span>
            </h2>
          ),
        )}
        {next !== undefined && filter === '' ? (
          <Button key="more" look="quiet" className="my-1 w-full" onClick={() => void inbox.more()}>
            Load older sessions
          </Button>
        ) : null}
      </VList>
    </nav>
  )
}
