import type { AgentHistory } from '../fakes/history.ts'
import { agentLogs, type Evidence } from './evidence.ts'
import type { Findings } from './findings.ts'
import { isWhole, type LoggedTurn, turnsOf } from './turns.ts'

/** The output of an agent for one prompt. */
interface Work {
  received: number
  wrote: string
}

/** Every turn has the text that its agent wrote for its prompt: all of it, or the beginning where it was cut. */
export function checkContents(evidence: Evidence, found: Findings): void {
  const works = worksOf(evidence.histories)
  for (const [name, { received }] of works) {
    if (received > 1) found.add('repeated', `the agent received ${name} ${received} times`)
  }
  for (const [session, entries] of agentLogs(evidence)) {
    for (const turn of turnsOf(entries).values()) {
      const problem = problemOf(turn, works, evidence.secrets)
      if (problem !== undefined)
        found.add('text', `${session} turn ${turn.turn} (${turn.outcome}) ${problem}`)
    }
  }
}

function worksOf(histories: readonly AgentHistory[]): Map<string, Work> {
  const works = new Map<string, Work>()
  for (const note of histories.flatMap(({ notes }) => notes)) {
    if (note.type !== 'prompt' && note.type !== 'wrote') continue
    const work = works.get(note.name) ?? { received: 0, wrote: '' }
    if (note.type === 'prompt') work.received++
    else work.wrote += note.text
    works.set(note.name, work)
  }
  return works
}

function problemOf(
  turn: LoggedTurn,
  works: ReadonlyMap<string, Work>,
  secrets: ReadonlyMap<string, string>,
): string | undefined {
  const { name, text, result } = turn
  if (name === undefined) return 'was begun by no prompt'
  const other = `${text} ${result ?? ''}`.match(/\bp\d+(?=[. ])/g)?.find((word) => word !== name)
  if (other !== undefined) return `is for ${name} and has the output of ${other}`
  const work = works.get(name)
  if (!work) return isWhole(turn) ? `ended although its agent never received ${name}` : undefined
  const wrote = masked(work.wrote, secrets)
  if (isWhole(turn) && text !== wrote)
    return `has ${text.length} characters of ${name}, and ${wrote.length} were written`
  return wrote.startsWith(text) ? undefined : `does not have the beginning of what was written for ${name}`
}

export function masked(text: string, secrets: ReadonlyMap<string, string>): string {
  let safe = text
  for (const [secret, replacement] of secrets) safe = safe.replaceAll(secret, replacement)
  return safe
}
