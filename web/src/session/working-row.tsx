import { escapeInvisible, quotaText, type SessionRecord, type Timeline } from 'mainstem/client'
import { useNow } from '../app/clock.ts'
import { silenceOf } from '../inbox/groups.ts'
import { CodeText } from '../text/code-text.tsx'
import { clockTime, count } from '../text/format.ts'
import { doingOf } from './doing.ts'

/** What the session is doing now, at the end of its conversation. The clock ticks without data. */
export function WorkingRow({ record, timeline }: { record: SessionRecord; timeline: Timeline }) {
  const now = useNow()
  const doing = doingOf(record, timeline)
  const quota = quotaText(record, now)
  if (!doing) return quota === undefined ? null : <Line isAsking>{quota}</Line>
  const { verb, subject, isCommand, since, isAsking } = doing
  const silent = isAsking ? undefined : silenceOf(record, now)
  const { running } = timeline
  return (
    <Line isAsking={isAsking || silent !== undefined || quota !== undefined}>
      <span className="shrink-0 font-medium">{verb}</span>
      {subject !== undefined && (
        <span className={`min-w-0 truncate ${isCommand ? 'font-mono text-xs' : ''}`}>
          {isCommand ? <CodeText text={subject} language="bash" /> : escapeInvisible(subject)}
        </span>
      )}
      {since !== undefined && <span className="tabular-nums">{clockTime(now - since)}</span>}
      {silent !== undefined && <span>· no output for {clockTime(silent)}</span>}
      {quota !== undefined && <span>· {quota}</span>}
      {running && (
        <span className="ml-auto shrink-0 tabular-nums">
          {running.tokens > 0 && `${count(running.tokens)} tokens · `}
          turn {clockTime(now - running.startedAt)}
        </span>
      )}
    </Line>
  )
}

function Line({ isAsking, children }: { isAsking: boolean; children: React.ReactNode }) {
  return (
    <div
      data-working
      className={`mx-auto flex w-full max-w-3xl items-center gap-2 pb-1.5 text-sm ${isAsking ? 'text-ask' : 'text-soft'}`}
    >
      <span
        aria-hidden="true"
        className={`size-2 shrink-0 rounded-full ${isAsking ? 'bg-ask' : 'breathing bg-accent'}`}
      />
      {children}
    </div>
  )
}
