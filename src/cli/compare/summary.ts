import type { Usage } from '../../model/index.ts'
import { printable, printableLine } from '../render/printable.ts'
import type { Screen } from '../render/screen.ts'
import { renderTable } from '../render/table.ts'
import { duration } from '../render/view.ts'
import { shortId } from '../turn/session-ref.ts'
import type { Candidate } from './candidates.ts'
import type { TurnResultFold } from './result.ts'
import type { Worktree } from './worktrees.ts'

/** The result of a candidate. */
export interface Finished {
  candidate: Candidate
  session: string
  result: TurnResultFold
  /** From git in a worktree; otherwise from the reports of the agent. */
  files: readonly string[]
  worktree?: Worktree | undefined
}

const HEADINGS = ['AGENT', 'OUTCOME', 'TIME', 'TOKENS', 'COST', 'FILES', 'SESSION']

/** The answers, and below them the table. */
export function summaryText(screen: Screen, all: readonly Finished[]): string {
  const { colors } = screen
  const answers = all.map(
    ({ candidate, result }) =>
      screen.gap() +
      screen.line('', [colors.bold, `── ${candidate.label} ──`]) +
      screen.block('', result.answer === '' ? 'no answer' : result.answer),
  )
  const table = renderTable(screen, {
    headings: HEADINGS,
    rows: all.map(rowOf),
    styleOf: (row, column) => {
      if (column !== 1) return undefined
      return row[1] === 'completed' ? colors.green : colors.red
    },
  })
  const trees = all.flatMap(({ candidate, worktree }) =>
    worktree ? [`${candidate.label}: ${worktree.path} (branch ${worktree.branch})\n`] : [],
  )
  const places = trees.length === 0 ? '' : `\n${printable(trees.join(''))}`
  return `${answers.join('')}${screen.gap()}${table}${places}`
}

/** An agent that reports no tokens or cost is not shown as free. */
function rowOf({ candidate, session, result: { end }, files }: Finished): string[] {
  const { total, costUsd, partial }: Usage = end?.usage ?? {}
  const least = partial ? '≥ ' : ''
  return [
    candidate.label,
    end === undefined ? 'no outcome' : end.outcome.replace('_', ' '),
    end === undefined ? '–' : duration(end.durationMs),
    total === undefined ? '–' : `${least}${total.toLocaleString('en-US')}`,
    costUsd === undefined ? '–' : `${least}$${costUsd.toFixed(4)}`,
    String(files.length),
    shortId(session),
  ]
}

/** The same for programs. */
export function summaryOf({ candidate, session, result, files, worktree }: Finished): object {
  const { end, answer } = result
  return {
    agent: candidate.agent,
    ...(candidate.model !== undefined && { model: candidate.model }),
    session,
    outcome: end?.outcome ?? null,
    ...(end?.error && { error: end.error }),
    durationMs: end?.durationMs ?? null,
    usage: end?.usage ?? null,
    files,
    answer: answer.replace(/\n$/, ''),
    ...(worktree && { worktree: worktree.path, branch: worktree.branch, base: worktree.base }),
  }
}

/** How to look at the worktrees, and how to remove one. */
export function worktreeNotes(all: readonly Finished[]): string[] {
  const tree = all.find(({ worktree }) => worktree)?.worktree
  if (!tree) return []
  return [
    `look at one: git -C ${printableLine(tree.path)} diff ${tree.base.slice(0, 10)}`,
    `remove one: git worktree remove ${printableLine(tree.path)} && git branch -D ${tree.branch}`,
  ]
}
