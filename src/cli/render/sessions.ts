import { homedir } from 'node:os'
import type { SessionRecord } from '../../client/index.ts'
import { quotaText } from '../../client/timeline/notice-texts.ts'
import { shortId } from '../turn/session-ref.ts'
import type { Screen } from './screen.ts'
import { renderTable } from './table.ts'

/** The state of a session in a few words. */
export function stateOf(record: SessionRecord, now: number): string {
  const { status, requests, lastOutcome, queue, failure } = record
  if (failure) return failure.code.replace('_', ' ')
  if (requests.length > 0) return 'asking'
  if (status === 'busy') return 'working'
  if (queue.length > 0) return 'queued'
  const quota = quotaText(record, now)
  if (quota !== undefined) return quota
  if (lastOutcome !== undefined && lastOutcome !== 'completed') return lastOutcome.replace('_', ' ')
  return status
}

/** `now`, `5 min`, `3 h`, `12 d`. */
export function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return 'now'
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`
}

const HEADINGS = ['SESSION', 'AGENT', 'STATE', 'AGE', 'DIRECTORY', 'TITLE']

/** A table of sessions. */
export function renderSessions(screen: Screen, sessions: readonly SessionRecord[], now: number): string {
  const { colors } = screen
  if (sessions.length === 0) return screen.line('', [colors.dim, 'no sessions'])
  const home = homedir()
  const rows = sessions.map((session) => {
    const { id, name, agent, updatedAt, cwd, title } = session
    const place = cwd === home || cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd
    const label = name === undefined ? shortId(id) : `${shortId(id)} ${name}`
    return [label, agent, stateOf(session, now), ago(now - updatedAt), place, title ?? '']
  })
  return renderTable(screen, {
    headings: HEADINGS,
    rows,
    styleOf: (row, column) => {
      if (column !== 2) return undefined
      return row[2] === 'asking' ? colors.yellow : row[2] === 'working' ? colors.cyan : undefined
    },
  })
}
