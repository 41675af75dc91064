import type { Entry } from '../model/index.ts'
import { clockTime } from './view.ts'

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** The silence after which it is shown. */
const QUIET_MS = 10_000

/** What the status line shows: a fold over the entries of a session. */
export interface Status {
  startedAt: number | undefined
  lastAt: number
  tokens: number
  tool: string | undefined
  asking: boolean
}

export function newStatus(): Status {
  return { startedAt: undefined, lastAt: 0, tokens: 0, tool: undefined, asking: false }
}

/** Adds an entry. `now` is the local clock, because the clock of the server may differ. */
export function advance(status: Status, { event }: Entry, now: number): void {
  status.lastAt = now
  switch (event.type) {
    case 'turn.started':
      status.startedAt = now
      status.tokens = 0
      break
    case 'turn.completed':
      status.startedAt = undefined
      status.tool = undefined
      break
    case 'usage.reported':
      if (event.scope === 'step' || event.scope === 'subagent') status.tokens += event.total ?? 0
      if (event.scope === 'turn') status.tokens = event.total ?? status.tokens
      break
    case 'tool.started':
      status.tool = event.name
      break
    case 'tool.completed':
      status.tool = undefined
      break
    default:
  }
}

/** The progress of the turn; empty if none runs. */
export function progressOf({ startedAt, lastAt, tokens, tool }: Status, now: number): string {
  if (startedAt === undefined) return ''
  const frame = FRAMES[Math.floor(now / 100) % FRAMES.length] ?? ''
  const parts = [
    `${frame} ${clockTime(now - startedAt)}`,
    ...(tool === undefined ? [] : [tool]),
    ...(tokens === 0 ? [] : [`${tokens.toLocaleString('en-US')} tokens`]),
    ...(now - lastAt < QUIET_MS ? [] : [`no output for ${clockTime(now - lastAt)}`]),
  ]
  return parts.join(' · ')
}

/** The status line at a moment; empty while no turn runs. */
export function statusLine(status: Status, now: number, isInterrupting = false): string {
  const progress = progressOf(status, now)
  const keys = isInterrupting ? 'interrupting · Ctrl-C again detaches' : 'Ctrl-C interrupts'
  return progress === '' ? '' : `${progress} · ${keys}`
}
