import { activityOf } from '../../client/timeline/activity.ts'
import { applyEntry } from '../../client/timeline/apply-entry.ts'
import type { ToolItem } from '../../client/timeline/items.ts'
import { nextTurn } from '../../client/timeline/next-turn.ts'
import { newTimeline, type Timeline } from '../../client/timeline/timeline.ts'
import type { Entry } from '../../model/index.ts'
import { printableLine } from '../render/printable.ts'
import { clockTime, titleOf } from '../render/view.ts'
import { cut } from '../render/wrap.ts'

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** The silence after which it is shown. */
const QUIET_MS = 10_000

const LONGEST_CALL = 40

/** What the status line shows: the timeline of the latest turn, and when its entries arrived. */
export interface TurnStatus {
  timeline: Timeline
  /** The directory of the session; empty while it is unknown. */
  cwd: string
  /** By the local clock, because the clock of the server may differ. */
  startedAt: number
  lastAt: number
}

export function newStatus(): TurnStatus {
  return { timeline: newTimeline(), cwd: '', startedAt: 0, lastAt: 0 }
}

/** Adds an entry that arrived at `now`. A turn starts another timeline, so that a long session fits in memory. */
export function advance(status: TurnStatus, entry: Entry, now: number): void {
  status.lastAt = now
  if (entry.event.type === 'session.started') status.cwd = entry.event.cwd
  if (entry.event.type === 'turn.started') {
    status.timeline = nextTurn(status.timeline)
    status.startedAt = now
  }
  applyEntry(status.timeline, entry)
}

/** The progress of the turn; empty if none runs. */
export function progressOf({ timeline, cwd, startedAt, lastAt }: TurnStatus, now: number): string {
  const activity = activityOf(timeline)
  if (activity.state === 'idle') return ''
  if (activity.state === 'waiting') {
    const asked = activity.requests.map(({ request }) => request.tool ?? request.kind)
    return `? waiting for an answer: ${asked.join(', ')}`
  }
  const tokens = timeline.running?.tokens ?? 0
  const frame = FRAMES[Math.floor(now / 100) % FRAMES.length] ?? ''
  const parts = [
    `${frame} ${clockTime(now - startedAt)}`,
    ...(activity.state === 'tool' ? [callsOf(timeline, activity.tool, cwd)] : []),
    ...(tokens === 0 ? [] : [`${tokens.toLocaleString('en-US')} tokens`]),
    ...(now - lastAt < QUIET_MS ? [] : [`no output for ${clockTime(now - lastAt)}`]),
  ]
  return parts.join(' · ')
}

/** The call that started last, and how many others run. */
function callsOf({ items, running }: Timeline, last: ToolItem, cwd: string): string {
  const others = items.filter(
    (item) => item.kind === 'tool' && item.status === 'running' && item.turn === running?.turn,
  ).length
  const title = printableLine(titleOf(last, cwd))
  const name = cut(title === '' ? last.name : `${last.name} ${title}`, LONGEST_CALL)
  return others > 1 ? `${name} and ${others - 1} more` : name
}

/** The status line at a moment; empty while no turn runs. */
export function statusLine(status: TurnStatus, now: number, isInterrupting = false): string {
  const progress = progressOf(status, now)
  const keys = isInterrupting ? 'interrupting · Ctrl-C again detaches' : 'Ctrl-C interrupts'
  return progress === '' ? '' : `${progress} · ${keys}`
}
