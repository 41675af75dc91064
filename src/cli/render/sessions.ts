import { homedir } from 'node:os'
import type { SessionRecord } from '../../client/index.ts'
import { continuationText, quotaText } from '../../client/timeline/notice-texts.ts'
import { isFailed } from '../../model/outcome/is-failed.ts'
import { isForPerson } from '../../model/request/for-person.ts'
import { shortId } from '../turn/session-ref.ts'
import type { Screen } from './screen.ts'
import { renderTable, WIDEST_CELL } from './table.ts'
import { widthOf } from './wrap.ts'

/** What a list shows of a session. */
export type ListedSession = Pick<
  SessionRecord,
  | 'id'
  | 'name'
  | 'agent'
  | 'status'
  | 'requests'
  | 'lastOutcome'
  | 'queue'
  | 'failure'
  | 'limit'
  | 'updatedAt'
  | 'cwd'
  | 'title'
  | 'context'
>

/** Whether a person has to answer. Requests that a hook or a policy answers are part of the agent's work. */
export function isAsking({ requests }: Pick<ListedSession, 'requests'>): boolean {
  return requests.some(isForPerson)
}

/** Whether it works, and needs nobody. */
export function isWorking(session: Pick<ListedSession, 'status' | 'requests'>): boolean {
  return session.status === 'busy' && !isAsking(session)
}

/** Whether `ls --state` shows the session. */
export function isInState(session: ListedSession, state: string | undefined): boolean {
  if (state === undefined) return true
  if (state === 'asking') return isAsking(session)
  if (state === 'working') return isWorking(session)
  if (state === 'failed') return isFailed(session)
  return session.status === state
}

/** The state of a session in a few words. */
export function stateOf(record: ListedSession, now: number): string {
  const { status, lastOutcome, queue, failure } = record
  if (failure) return failure.code.replace('_', ' ')
  if (isAsking(record)) return 'asking'
  if (status === 'busy') return 'working'
  const continues = continuationText(record, now)
  if (continues !== undefined) return continues
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

const HEADINGS = ['SESSION', 'AGENT', 'STATE', 'CONTEXT', 'AGE', 'DIRECTORY', 'TITLE'] as const
const CONTEXT = 3

/** The room that a title needs to say something. */
const TITLE_COLUMNS = 24

/** Columns that give way to the title in a narrow terminal, the first one first. */
const LESS_IMPORTANT = [5, 4, CONTEXT] as const

/** A table of sessions. In a narrow terminal, the title is worth more than the directory and the age. */
export function renderSessions(screen: Screen, sessions: readonly ListedSession[], now: number): string {
  const { colors } = screen
  if (sessions.length === 0) return screen.line('', [colors.dim, 'no sessions'])
  const home = homedir()
  const isNarrow = screen.columns() < NARROW
  const rows = sessions.map((session) => {
    const { id, name, agent, updatedAt, cwd, title } = session
    const place = cwd === home || cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd
    const label = name === undefined ? shortId(id) : isNarrow ? name : `${shortId(id)} ${name}`
    return [label, agent, stateOf(session, now), contextOf(session), ago(now - updatedAt), place, title ?? '']
  })
  const left = columnsWithRoom(screen.columns(), rows)
  const stateColumn = left.indexOf(2)
  return renderTable(screen, {
    headings: left.map((column) => HEADINGS[column] ?? ''),
    rows: rows.map((row) => left.map((column) => row[column] ?? '')),
    styleOf: (row, column) => {
      if (column !== stateColumn) return undefined
      return row[column] === 'asking' ? colors.yellow : row[column] === 'working' ? colors.cyan : undefined
    },
  })
}

/** How full the context window is, as a share of it, or in tokens if its size is unknown. */
function contextOf({ context: { used, size } = {} }: ListedSession): string {
  if (used === undefined) return ''
  if (size) return `${Math.round((100 * used) / size)}%`
  return used < 1000 ? String(used) : `${Math.round(used / 1000)}k`
}

/** Below this width, a session has its name or its id. */
const NARROW = 80

function columnsWithRoom(columns: number, rows: readonly (readonly string[])[]): number[] {
  const widths = HEADINGS.map(
    (heading, column) =>
      Math.min(WIDEST_CELL, Math.max(heading.length, ...rows.map((row) => widthOf(row[column] ?? '')))) + 2,
  )
  const longest = Math.min(TITLE_COLUMNS, (widths[HEADINGS.length - 1] ?? 2) - 2)
  const hasContext = rows.some((row) => row[CONTEXT] !== '')
  let left = HEADINGS.map((_, column) => column).filter((column) => hasContext || column !== CONTEXT)
  for (const column of LESS_IMPORTANT) {
    const taken = left.slice(0, -1).reduce((sum, one) => sum + (widths[one] ?? 0), 0)
    if (taken + longest <= columns) break
    left = left.filter((one) => one !== column)
  }
  return left
}
