import { quotaText, type SessionRecord } from 'mainstem/client'
import { memo } from 'react'
import { useNow } from '../app/clock.ts'
import { sessionHref } from '../app/route.ts'
import { OUTCOMES } from '../session/outcome.ts'
import { age, clockTime, cost, folderName } from '../text/format.ts'
import { Badge } from '../ui/badge.tsx'
import { silenceOf, titleOf, waits } from './groups.ts'

/** One session of the list. */
export const SessionRow = memo(function SessionRow({
  record,
  current,
}: {
  record: SessionRecord
  current: boolean
}) {
  const { id, agent, cwd, createdAt, updatedAt, status, usage, model } = record
  return (
    <a
      href={sessionHref(id)}
      aria-current={current ? 'page' : undefined}
      data-session={id}
      className={`block rounded-md px-2.5 py-1.5 hover:bg-raised ${current ? 'bg-raised' : ''}`}
    >
      <span className="flex items-baseline gap-2">
        <span className="min-w-0 flex-1 truncate font-medium">{titleOf(record)}</span>
        {/* A running session changes all the time: what counts is when it began. */}
        <Age from={status === 'busy' ? createdAt : updatedAt} />
      </span>
      <span className="flex items-center gap-1.5 text-xs text-soft">
        <Standing record={record} />
        <span>{agent}</span>
        {model !== undefined && <span className="truncate">{model}</span>}
        <span className="min-w-0 flex-1 truncate" title={cwd}>
          {folderName(cwd)}
        </span>
        <span>{cost(usage)}</span>
      </span>
    </a>
  )
})

function Age({ from }: { from: number }) {
  return <span className="text-xs text-soft tabular-nums">{age(useNow() - from)}</span>
}

/** The reason why a session waits, or the outcome of its last turn. */
function Standing({ record }: { record: SessionRecord }) {
  const quota = quotaText(record, useNow())
  if (waits(record))
    return (
      <Badge look="ask">
        {record.requests.length > 1 ? `${record.requests.length} requests` : 'needs you'}
      </Badge>
    )
  if (record.status === 'busy') return <Running record={record} />
  const { lastOutcome, queue } = record
  if (queue.length > 0) return <Badge>{queue.length} queued</Badge>
  if (quota !== undefined) return <Badge look="bad">{quota}</Badge>
  if (lastOutcome) return <Badge look={OUTCOMES[lastOutcome].look}>{OUTCOMES[lastOutcome].label}</Badge>
  return <Badge>{record.status === 'ended' ? 'ended' : 'idle'}</Badge>
}

function Running({ record }: { record: SessionRecord }) {
  const silent = silenceOf(record, useNow())
  if (silent !== undefined) return <Badge look="ask">no output for {clockTime(silent)}</Badge>
  return (
    <span className="inline-flex items-center gap-1 text-accent">
      <span aria-hidden="true" className="breathing size-1.5 rounded-full bg-accent" />
      running
    </span>
  )
}
