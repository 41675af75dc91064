import { applyEntry, type Entry, newTimeline, type SessionRecord, type Timeline } from 'mainstem/client'
import { useEffect, useMemo, useRef, useState } from 'react'
import { VList } from 'virtua'
import { client, leftOut, messageOf } from '../app/client.ts'
import { ItemView } from '../session/items/item-view.tsx'
import { clockTime } from '../text/format.ts'
import { Button } from '../ui/button.tsx'
import { useFollowEnd } from '../ui/follow-end.ts'
import { useKeys } from '../ui/keys.ts'
import { Notice } from '../ui/notice.tsx'
import { dueAt, scheduleOf } from './schedule.ts'

const SPEEDS = [1, 2, 5, 10, 20] as const

async function readAll(id: string, from: number, onProgress: (read: number) => void): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let after = from; ; ) {
    const page = await client.page(id, { after, limit: 1000 })
    entries.push(...(page.entries ?? []))
    onProgress(entries.length)
    if (!page.entries?.length) return entries
    after = Number(page.next)
  }
}

/** Plays a log again by its recorded times. */
export default function ReplayTab({ record: { id, earliest = 1, head } }: { record: SessionRecord }) {
  const [entries, setEntries] = useState<readonly Entry[]>()
  const [read, setRead] = useState(0)
  const [error, setError] = useState<string>()
  useEffect(() => {
    readAll(id, earliest - 1, setRead)
      .then(setEntries)
      .catch((thrown: unknown) => leftOut(thrown) || setError(messageOf(thrown)))
  }, [id, earliest])
  if (error !== undefined) return <Notice level="error">{error}</Notice>
  if (!entries) {
    return (
      <p className="p-6 text-center text-soft">
        Reading {read} of {head} entries…
      </p>
    )
  }
  if (entries.length === 0)
    return <p className="p-6 text-center text-soft">There is nothing to replay yet.</p>
  return <Player entries={entries} />
}

function Player({ entries }: { entries: readonly Entry[] }) {
  const schedule = useMemo(() => scheduleOf(entries), [entries])
  const end = schedule.at(-1) ?? 0
  const [time, setTime] = useState(0)
  const [speed, setSpeed] = useState<(typeof SPEEDS)[number]>(1)
  const [playing, setPlaying] = useState(true)
  useEffect(() => {
    if (!playing) return
    let last = performance.now()
    let frame = requestAnimationFrame(function step(now) {
      setTime((before) => Math.min(end, before + (now - last) * speed))
      last = now
      frame = requestAnimationFrame(step)
    })
    return () => cancelAnimationFrame(frame)
  }, [playing, speed, end])
  const due = dueAt(schedule, time)
  const timeline = useTimelineAt(entries, due)
  const toggle = () => {
    if (time >= end) setTime(0)
    setPlaying(time >= end || !playing)
  }
  useKeys({ ' ': toggle })
  const over = time >= end
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <Stage timeline={timeline} due={due} />
      <div className="flex flex-wrap items-center gap-3 border-t border-line px-3 py-2 sm:px-5">
        <Button look="main" onClick={toggle} aria-label={playing && !over ? 'Pause' : 'Play'}>
          {playing && !over ? '❚❚' : '▶'}
        </Button>
        <input
          type="range"
          aria-label="Position"
          aria-valuetext={`${clockTime(time)} of ${clockTime(end)}, entry ${entries[due - 1]?.seq ?? 0}`}
          className="min-w-32 flex-1"
          min={0}
          max={Math.max(1, end)}
          value={time}
          onChange={(event) => {
            // Otherwise a replay that plays would leave the chosen place at once.
            setPlaying(false)
            setTime(Number(event.target.value))
          }}
        />
        <span className="text-xs text-soft tabular-nums">
          {clockTime(time)} / {clockTime(end)} · entry {entries[due - 1]?.seq ?? 0} of{' '}
          {entries.at(-1)?.seq ?? 0}
        </span>
        <label className="text-xs text-soft">
          Speed{' '}
          <select value={speed} onChange={(event) => setSpeed(Number(event.target.value) as typeof speed)}>
            {SPEEDS.map((one) => (
              <option key={one} value={one}>
                {one}×
              </option>
            ))}
          </select>
        </label>
      </div>
    </div>
  )
}

/** The fold of the first entries. Forwards it continues, backwards it starts again. */
function useTimelineAt(entries: readonly Entry[], due: number): Timeline {
  const folded = useRef({ entries, count: 0, timeline: newTimeline() })
  const kept = folded.current
  if (kept.entries !== entries || kept.count > due)
    folded.current = { entries, count: 0, timeline: newTimeline() }
  const now = folded.current
  for (const entry of entries.slice(now.count, due)) applyEntry(now.timeline, entry)
  now.count = due
  return now.timeline
}

function Stage({ timeline }: { timeline: Timeline; due: number }) {
  const frame = useRef<HTMLDivElement>(null)
  useFollowEnd(frame)
  return (
    <div ref={frame} className="min-h-0 flex-1" data-last-seq={timeline.last}>
      <VList data-scroller className="h-full px-3 sm:px-5" aria-label="Replay" tabIndex={0}>
        {timeline.items.map((item) => (
          <div key={item.key} className="mx-auto max-w-3xl py-1.5">
            <ItemView item={item} />
          </div>
        ))}
      </VList>
    </div>
  )
}
