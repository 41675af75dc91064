import {
  continuationText,
  escapeInvisible,
  isForPerson,
  quotaText,
  requestText,
  type SessionRecord,
} from 'mainstem/client'
import { memo } from 'react'
import { useNow } from '../app/clock.ts'
import { sessionHref } from '../app/route.ts'
import { useStore } from '../app/store.ts'
import { doingOf, doingText } from '../session/doing.ts'
import { OUTCOMES } from '../session/outcome.ts'
import { age, clockTime, cost, folderName } from '../text/format.ts'
import { showHidden } from '../text/hidden.ts'
import { Badge, type BadgeLook } from '../ui/badge.tsx'
import { activities } from './activities.ts'
import { silenceOf, titleOf, waits } from './groups.ts'

/** One session of the list: how it stands, its title, and what it is doing or how it ended. */
export const SessionRow = memo(function SessionRow({
  record,
  current,
}: {
  record: SessionRecord
  current: boolean
}) {
  const { id, createdAt, updatedAt, status } = record
  return (
    <a
      href={sessionHref(id)}
      aria-current={current ? 'page' : undefined}
      data-session={id}
      className={`grid grid-cols-[0.75rem_1fr] gap-x-2 rounded-md px-2 py-1.5 hover:bg-raised ${current ? 'bg-raised' : ''}`}
    >
      <Dot record={record} />
      <span className="min-w-0">
        <span className="flex items-baseline gap-2">
          <span className="min-w-0 flex-1 truncate text-sm font-medium">{titleOf(record)}</span>
          {/* A running session changes all the time: what counts is when it began. */}
          <Age from={status === 'busy' ? createdAt : updatedAt} />
        </span>
        <span className="flex items-center gap-1.5 text-xs text-soft">
          <Standing record={record} />
        </span>
      </span>
    </a>
  )
})

function Age({ from }: { from: number }) {
  return <span className="text-xs text-soft tabular-nums">{age(useNow() - from)}</span>
}

const DOTS: Record<BadgeLook, string> = {
  plain: 'border border-soft',
  ask: 'bg-ask',
  good: 'border-2 border-good',
  bad: 'bg-bad',
  accent: 'breathing bg-accent',
}

/** The state as a colour, beside the words that say it. */
function Dot({ record }: { record: SessionRecord }) {
  const { status, lastOutcome } = record
  const look = waits(record)
    ? 'ask'
    : status === 'busy'
      ? 'accent'
      : lastOutcome
        ? OUTCOMES[lastOutcome].look
        : 'plain'
  return (
    <span aria-hidden="true" className={`mt-1.5 size-2 justify-self-center rounded-full ${DOTS[look]}`} />
  )
}

/** What a session waits for, what it is doing, or the outcome of its last turn; then where it works. */
function Standing({ record }: { record: SessionRecord }) {
  const now = useNow()
  const continues = continuationText(record, now)
  const quota = quotaText(record, now)
  if (waits(record)) return <Asking record={record} />
  if (record.status === 'busy') return <Running record={record} />
  const { lastOutcome, queue } = record
  return (
    <>
      {continues !== undefined ? (
        <Badge look="ask">{continues}</Badge>
      ) : queue.length > 0 ? (
        <Badge>{queue.length} queued</Badge>
      ) : quota !== undefined ? (
        <Badge look="bad">{quota}</Badge>
      ) : lastOutcome === 'completed' ? (
        <span className="sr-only">{OUTCOMES.completed.label}</span>
      ) : lastOutcome ? (
        <Badge look={OUTCOMES[lastOutcome].look}>{OUTCOMES[lastOutcome].label}</Badge>
      ) : (
        <span>{record.status === 'ended' ? 'ended' : 'idle'}</span>
      )}
      <Place record={record} />
      <span className="ml-auto shrink-0 tabular-nums">{cost(record.usage)}</span>
    </>
  )
}

function Place({ record: { agent, cwd } }: { record: SessionRecord }) {
  return (
    <span className="min-w-0 truncate" title={showHidden(cwd)}>
      {agent} · {folderName(cwd)}
    </span>
  )
}

/** The oldest request, in a line. */
function Asking({ record: { requests, cwd } }: { record: SessionRecord }) {
  const open = requests.filter(isForPerson)
  const [first] = open
  return (
    <span className="min-w-0 truncate text-ask">
      {open.length > 1 ? `${open.length} requests: ` : 'Asks: '}
      {first && escapeInvisible(requestText(first, cwd))}
    </span>
  )
}

function Running({ record }: { record: SessionRecord }) {
  const timeline = useStore(activities).get(record.id)
  const silent = silenceOf(record, useNow())
  const doing = doingOf(record, timeline)
  return (
    <>
      <span className="sr-only">running</span>
      {silent !== undefined && <Badge look="ask">no output for {clockTime(silent)}</Badge>}
      <span className="min-w-0 truncate text-accent">{doing && escapeInvisible(doingText(doing))}</span>
    </>
  )
}
