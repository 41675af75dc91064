import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { VList, type VListHandle } from 'virtua'
import { prefer, preferences } from '../app/preferences.ts'
import { hrefOf, type Route } from '../app/route.ts'
import { useStore } from '../app/store.ts'
import { showHidden } from '../text/hidden.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { useKeys } from '../ui/keys.ts'
import { matches } from './groups.ts'
import { inbox } from './inbox-store.ts'
import { filtered, type ListRow, rowsOf, type StateFilter } from './list-rows.ts'
import { SessionRow } from './session-row.tsx'

const FILTERS: Record<StateFilter, string> = {
  all: 'All',
  asking: 'Needs you',
  running: 'Running',
  failed: 'Failed',
  archived: 'Archived',
}

/** Every session: those that need a person, those that run, those that are done; or by directory. */
export function SessionList({ route }: { route: Route }) {
  const { records, loaded, next: older, failed } = useStore(inbox)
  const choice = useStore(preferences)
  const [words, setWords] = useState('')
  const [state, setState] = useState<StateFilter>('all')
  const next = state === 'failed' ? failed.next : older
  const isRead = loaded && (state !== 'failed' || failed.loaded)
  const more = () => void (state === 'failed' ? inbox.moreFailed() : inbox.more())
  const rows = useMemo(() => {
    const found = filtered(records.values(), state, choice)
    return rowsOf(
      words === '' ? found : found.filter((one) => matches(one, words)),
      state,
      choice,
      next !== undefined,
    )
  }, [records, words, state, choice, next])
  // All sessions that ask or work are loaded.
  const isPartial =
    state === 'failed' ||
    (state === 'all' && words !== '') ||
    (state === 'archived' && choice.archived.some((id) => !records.has(id)))
  // The newest sessions alone do not tell that nothing matches.
  const looksFurther = rows.length === 0 && (!isRead || (next !== undefined && isPartial))
  const lookFrom = loaded && looksFurther ? (next ?? 'the newest') : undefined
  const look = useEffectEvent(more)
  useEffect(() => {
    if (lookFrom !== undefined) look()
  }, [lookFrom])
  const current = route.screen === 'session' ? route.id : undefined
  const list = useRef<VListHandle>(null)
  /** The session that gets the focus with the next frame. */
  const aim = useRef<string>(undefined)
  // Moves the focus: Enter opens the session, as of any link.
  const step = (by: number) => {
    const ids = rows.map((row) => ('record' in row ? row.record.id : undefined))
    const focused = document.activeElement?.closest<HTMLElement>('[data-session]')?.dataset.session
    const at = ids.indexOf(aim.current ?? focused ?? current ?? '')
    const index =
      by > 0
        ? ids.findIndex((id, index) => id && index > at)
        : ids.findLastIndex((id, index) => id && index < at)
    const id = ids[index]
    if (id === undefined) return
    list.current?.scrollToIndex(index, { align: 'nearest' })
    aim.current = id
    // A row that was out of sight is there with the next frame.
    requestAnimationFrame(() => {
      // Several keys of one frame move the focus once, to where the last of them led.
      if (aim.current !== id) return
      aim.current = undefined
      document.querySelector<HTMLElement>(`[data-session="${id}"]`)?.focus()
    })
  }
  useKeys({ j: () => step(1), k: () => step(-1) })
  return (
    <nav aria-label="Sessions" className="flex min-h-0 flex-1 flex-col">
      <div className="flex gap-1 px-3 pb-1.5">
        <input
          type="search"
          className="w-full text-sm"
          placeholder="Filter sessions"
          aria-label="Filter sessions"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <button
          type="button"
          aria-pressed={choice.byProject}
          aria-label="Group by directory"
          title="Group by directory"
          className="rounded-md px-1.5 text-soft hover:bg-raised hover:text-ink aria-pressed:bg-raised aria-pressed:text-accent"
          onClick={() => prefer({ byProject: !choice.byProject })}
        >
          <Icon name="folder" />
        </button>
      </div>
      <StateFilters state={state} onChoose={setState} />
      <Empty rows={rows} looks={looksFurther} words={words} state={state} />
      {words !== '' && (
        <a
          href={hrefOf({ screen: 'search', query: words })}
          className="px-4 pb-2 text-sm text-accent underline"
        >
          Search all texts for “{words}”
        </a>
      )}
      <VList ref={list} className="min-h-0 flex-1 px-2 pb-2">
        {rows.map((row) =>
          'record' in row ? (
            <SessionRow key={row.record.id} record={row.record} current={row.record.id === current} />
          ) : (
            <h2
              key={`${row.heading} ${row.title}`}
              title={row.title && showHidden(row.title)}
              className="truncate px-2 pt-3 pb-1 text-xs font-semibold text-soft"
            >
              {row.heading} <span className="font-normal">{row.count}</span>
            </h2>
          ),
        )}
        {next !== undefined ? (
          <Button key="more" look="quiet" className="my-1 w-full" onClick={more}>
            Load older sessions
          </Button>
        ) : null}
      </VList>
    </nav>
  )
}

function StateFilters({ state, onChoose }: { state: StateFilter; onChoose(state: StateFilter): void }) {
  return (
    <fieldset className="flex flex-wrap gap-x-0.5 px-3 pb-1">
      <legend className="sr-only">State</legend>
      {(Object.entries(FILTERS) as [StateFilter, string][]).map(([value, name]) => (
        <button
          key={value}
          type="button"
          aria-pressed={state === value}
          className="rounded-md px-1.5 py-0.5 text-xs text-soft hover:text-ink aria-pressed:bg-raised aria-pressed:font-medium aria-pressed:text-ink"
          onClick={() => onChoose(value)}
        >
          {name}
        </button>
      ))}
    </fieldset>
  )
}

interface EmptyProps {
  rows: readonly ListRow[]
  /** More sessions are being read. */
  looks: boolean
  words: string
  state: StateFilter
}

const NOTHING: Record<StateFilter, string> = {
  all: 'No sessions yet.',
  asking: 'Nothing needs you. Requests of agents appear here.',
  running: 'Nothing runs now.',
  failed: 'No session ended badly.',
  archived: 'Nothing is archived. Press E in a session to take it out of the list.',
}

function Empty({ rows, looks, words, state }: EmptyProps) {
  if (rows.length > 0) return null
  return (
    <p className="px-4 py-6 text-center text-sm text-soft">
      {looks ? 'Looking…' : words ? 'No session matches.' : NOTHING[state]}
      {!looks && words === '' && state === 'all' && (
        <a href={hrefOf({ screen: 'new' })} className="ml-1 text-accent underline">
          Start one
        </a>
      )}
    </p>
  )
}
