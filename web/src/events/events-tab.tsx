import { type Entry, type EventType, escapeInvisible, type SessionRecord } from 'mainstem/client'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { VList, type VListHandle } from 'virtua'
import { client, leftOut, messageOf } from '../app/client.ts'
import { sessionHref } from '../app/route.ts'
import { jsonText } from '../text/format.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { Notice } from '../ui/notice.tsx'
import { EventDetails } from './event-details.tsx'
import { RawFrames } from './raw-frames.tsx'

type RawEntry = Entry & { raw?: string }

const DIALECTS = ['mainstem', 'unified', 'board', 'daemon', 'execute', 'ues', 'raw frames'] as const
const PAGE = 500

interface EventsTabProps {
  record: SessionRecord
  head: number
  seq: number | undefined
}

/** The log itself: each entry beside the raw frame it came from, the messages of another dialect, or the raw frames. */
export default function EventsTab({ record, head, seq }: EventsTabProps) {
  const [dialect, setDialect] = useState<(typeof DIALECTS)[number]>('mainstem')
  const [filter, setFilter] = useState('')
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-1.5 sm:px-5">
        <label className="text-xs text-soft">
          Dialect{' '}
          <select value={dialect} onChange={(event) => setDialect(event.target.value as typeof dialect)}>
            {DIALECTS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <input
          type="search"
          aria-label="Filter by type"
          placeholder="Filter by type, such as tool."
          className="w-60"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
        <CopyCurl id={record.id} path={dialect === 'raw frames' ? 'frames' : `events?dialect=${dialect}`} />
        <Coverage id={record.id} head={head} />
      </div>
      {dialect === 'mainstem' ? (
        <Entries record={record} head={head} filter={filter} seq={seq} />
      ) : dialect === 'raw frames' ? (
        <RawFrames id={record.id} filter={filter} head={head} />
      ) : (
        <Messages id={record.id} dialect={dialect} filter={filter} head={head} />
      )}
    </div>
  )
}

function CopyCurl({ id, path }: { id: string; path: string }) {
  const url = new URL(`v1/sessions/${id}/${path}`, document.baseURI).href
  const command = `curl -N -H "Authorization: Bearer $MAINSTEM_TOKEN" -H "Accept: text/event-stream" "${url}"`
  return <CopyButton text={command} label="Copy as curl" />
}

type CoverageCounts = Awaited<ReturnType<typeof client.coverage>>

/** How many frames of the agent became events. */
function Coverage({ id, head }: { id: string; head: number }) {
  const [loaded, setLoaded] = useState<{ entries: number; coverage: CoverageCounts }>()
  // Once for each step of a hundred entries is enough for a count.
  const entries = Math.floor(head / 100) * 100
  useEffect(() => {
    client
      .coverage(id)
      .then((coverage) => setLoaded({ entries, coverage }))
      .catch(leftOut)
  }, [id, entries])
  if (!loaded) return null
  const counts = Object.entries(loaded.coverage).filter(
    (pair): pair is [string, number] => typeof pair[1] === 'number',
  )
  return (
    <span
      title={`counted after entry ${loaded.entries} or later`}
      className="ml-auto flex flex-wrap gap-2 text-xs text-soft"
    >
      Frames:
      {counts.map(([name, value]) => (
        <span key={name}>
          {value} {name}
        </span>
      ))}
    </span>
  )
}

interface EntriesProps extends EventsTabProps {
  filter: string
}

/** Reads the log from the end backwards, or around the entry of a link, and follows it. */
function Entries({ record: { id, earliest = 1 }, head, filter, seq }: EntriesProps) {
  const list = useRef<VListHandle>(null)
  const [entries, setEntries] = useState<readonly RawEntry[]>([])
  const [selected, setSelected] = useState(seq)
  const [error, setError] = useState<string>()
  const first = entries[0]?.seq ?? Math.max(earliest, (seq ?? head) - PAGE / 2)
  const last = entries.at(-1)?.seq ?? first - 1
  const reading = useRef(false)
  const read = useCallback(
    (after: number, to: number) => {
      if (reading.current || after >= to) return
      reading.current = true
      client
        .page(id, { after, limit: Math.min(PAGE, to - after), raw: true })
        .then((page) => setEntries((known) => merged(known, page.entries ?? [])))
        .catch((thrown: unknown) => leftOut(thrown) || setError(messageOf(thrown)))
        .finally(() => {
          reading.current = false
        })
    },
    [id],
  )
  useEffect(() => read(last, head), [read, head, last])
  const shown = useMemo(() => {
    const wanted = filter.trim()
    return wanted === '' ? entries : entries.filter(({ event }) => event.type.startsWith(wanted))
  }, [entries, filter])
  useEffect(() => {
    const index = shown.findIndex((entry) => entry.seq === seq)
    if (index >= 0) list.current?.scrollToIndex(index, { align: 'center' })
  }, [shown, seq])
  // A link to an entry that is not here begins a new reading around it.
  useEffect(() => {
    if (seq === undefined) return
    setSelected(seq)
    setEntries((known) => (known.length > 0 && !known.some((entry) => entry.seq === seq) ? [] : known))
  }, [seq])
  const chosen = entries.find((entry) => entry.seq === selected)
  return (
    <div className="flex min-h-0 flex-1 flex-col md:flex-row">
      <div className="flex min-h-0 flex-1 flex-col md:max-w-md md:border-r md:border-line">
        {error !== undefined && <Notice level="error">{error}</Notice>}
        {first > earliest && (
          <Button look="quiet" onClick={() => read(Math.max(earliest - 1, first - 1 - PAGE), first - 1)}>
            Read entries before {first}
          </Button>
        )}
        <VList
          ref={list}
          className="min-h-0 flex-1"
          data={shown}
          data-entries={entries.length}
          aria-label="Entries"
          tabIndex={0}
        >
          {(entry) => (
            <EntryRow
              key={entry.seq}
              session={id}
              entry={entry}
              chosen={entry.seq === selected}
              onChoose={setSelected}
            />
          )}
        </VList>
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto border-t border-line p-3 md:border-t-0">
        {chosen ? (
          <EventDetails entry={chosen} />
        ) : (
          <p className="p-6 text-center text-soft">Choose an entry to see its event and its raw frame.</p>
        )}
      </div>
    </div>
  )
}

/** Returns each entry once and in order, also if pages arrive out of order. */
function merged(known: readonly RawEntry[], found: readonly RawEntry[]): RawEntry[] {
  const bySeq = new Map([...known, ...found].map((entry) => [entry.seq, entry]))
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq)
}

interface EntryRowProps {
  session: string
  entry: RawEntry
  chosen: boolean
  onChoose(seq: number): void
}

function EntryRow({ session, entry: { seq, event, turn }, chosen, onChoose }: EntryRowProps) {
  return (
    <a
      href={sessionHref(session, 'events', seq)}
      data-seq={seq}
      aria-current={chosen ? 'true' : undefined}
      className={`flex gap-3 px-3 py-0.5 font-mono text-xs hover:bg-raised ${chosen ? 'bg-raised' : ''}`}
      onClick={() => onChoose(seq)}
    >
      <span className="w-12 shrink-0 text-right text-soft tabular-nums">{seq}</span>
      <span className="w-36 shrink-0 truncate text-accent">{event.type}</span>
      <span className="min-w-0 flex-1 truncate text-soft">{glance(event)}</span>
      {turn !== undefined && <span className="text-soft">{turn}</span>}
    </a>
  )
}

/** Fields that tell most about an event, the best first. */
const GLANCES = [
  'text',
  'title',
  'name',
  'message',
  'prompt',
  'label',
  'outcome',
  'status',
  'line',
  'decision',
  'path',
  'output',
] as const

function glance(event: { type: EventType }): string {
  const fields: Record<string, unknown> = { ...event }
  const name = GLANCES.find((one) => typeof fields[one] === 'string')
  return name === undefined ? '' : escapeInvisible(String(fields[name]).slice(0, 200))
}

interface MessagesProps {
  id: string
  dialect: string
  filter: string
  head: number
}

function Messages({ id, dialect, filter, head }: MessagesProps) {
  const [messages, setMessages] = useState<readonly unknown[]>()
  const [error, setError] = useState<string>()
  useEffect(() => {
    // An empty log has no messages; a longer one may have more.
    if (head === 0) return
    client
      .page(id, { dialect, limit: 1000 })
      .then((page) => setMessages(page.messages ?? []))
      .catch((thrown: unknown) => leftOut(thrown) || setError(messageOf(thrown)))
  }, [id, dialect, head])
  const shown = (messages ?? [])
    .map((message, index) => ({ number: index + 1, kind: kindOf(message), text: JSON.stringify(message) }))
    .filter(({ text }) => text.includes(filter))
  return (
    <div className="min-h-0 flex-1">
      {error !== undefined && <Notice level="error">{error}</Notice>}
      <VList className="h-full" aria-label="Messages" tabIndex={0}>
        {shown.map(({ number, kind, text }) => (
          <details key={number} className="border-b border-line px-3 py-0.5 font-mono text-xs">
            <summary className="truncate">
              <Badge>{number}</Badge> {kind !== undefined && <span className="text-accent">{kind} </span>}
              <span className="text-soft">{escapeInvisible(text.slice(0, 160))}</span>
            </summary>
            <pre className="p-2 break-words whitespace-pre-wrap">{jsonText(JSON.parse(text))}</pre>
          </details>
        ))}
      </VList>
    </div>
  )
}

/** Fields that say what a message is, in the dialects that have one. */
const KINDS = ['type', 'event', 'method', 'kind'] as const

function kindOf(message: unknown): string | undefined {
  const fields: Record<string, unknown> = { ...Object(message) }
  const name = KINDS.find((one) => typeof fields[one] === 'string')
  return name === undefined ? undefined : String(fields[name])
}
