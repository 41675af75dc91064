import type { AgentHistory } from '../fakes/history.ts'
import { masked } from './contents.ts'
import { agentLogs, type Evidence } from './evidence.ts'
import type { Findings } from './findings.ts'

/**
 * The journal has every frame that an entry came from, without a gap, and its lines are those that the agents
 * printed: process by process, each from its first line on.
 */
export function checkJournals(evidence: Evidence, found: Findings): void {
  const { journals, secrets } = evidence
  const bySession = historiesBySession(evidence)
  for (const [session, entries] of agentLogs(evidence)) {
    const frames = journals.get(session) ?? []
    const gap = frames.findIndex(({ frame }, index) => frame !== index + 1)
    if (gap >= 0) found.add('journal', `${session}: frame ${frames[gap]?.frame} follows ${gap}`)
    const last = entries.reduce((most, { native = 0 }) => Math.max(most, native), 0)
    if (last > frames.length)
      found.add('journal', `${session}: an entry came from frame ${last} of ${frames.length}`)
    const lines = frames.filter(({ stream }) => stream === 'stdout').map(({ text }) => text)
    const problem = comparedLines(lines, bySession.get(session) ?? [], secrets)
    if (problem !== undefined) found.add('journal', `${session}: ${problem}`)
  }
}

function historiesBySession({ histories }: Evidence): Map<string, AgentHistory[]> {
  const found = new Map<string, AgentHistory[]>()
  for (const history of histories) {
    const [first] = history.notes
    if (first?.type === 'started') found.set(first.session, [...(found.get(first.session) ?? []), history])
  }
  return found
}

function comparedLines(
  lines: readonly string[],
  histories: readonly AgentHistory[],
  secrets: ReadonlyMap<string, string>,
): string | undefined {
  const printed = histories.map(({ notes }) =>
    notes.flatMap((note) => (note.type === 'line' ? masked(note.text, secrets) : [])),
  )
  // Servers print no lines of their protocol.
  if (printed.every(({ length }) => length === 0)) return undefined
  // Two processes may begin with the same lines, so every way to share the lines among them is followed.
  let ends = new Set([0])
  for (const process of printed) ends = new Set([...ends].flatMap((from) => sharesFrom(lines, from, process)))
  const at = Math.max(...ends)
  if (at === lines.length) return undefined
  return `line ${at + 1} is not what the agent printed next: ${lines[at]}`
}

/** Where the lines of a process that begin at `from` may end, the whole process or less. */
function sharesFrom(lines: readonly string[], from: number, process: readonly string[]): number[] {
  const ends = [from]
  for (const line of process) {
    const end = ends.at(-1) ?? from
    const found = lines[end] ?? ''
    // A SIGKILL or a full disk may leave half a line.
    if (found !== '' && line.startsWith(found)) ends.push(end + 1)
    if (found !== line) break
  }
  return ends
}
