import { escapeInvisible } from '../../client/approval-fields.ts'
import { relativePath } from '../../client/calls/describe-call.ts'
import { unifiedDiffLines } from '../../client/calls/diff-lines.ts'
import { type ProposedChange, proposedChanges } from '../../client/calls/proposed-changes.ts'
import { type ComparedLine, compareLines } from './line-diff.ts'
import type { TerminalView } from './view.ts'
import type { Style } from './wrap.ts'

interface ProposedDiff {
  /** Lines of the terminal: for each file its path, and every line of the change. */
  lines: string[]
  /** The fields of the input that the lines show completely. */
  fields: readonly string[]
}

/** The change that a call would make, as a diff in colours. Nothing of it is cut or left out. */
export function proposedDiff(view: TerminalView, input: unknown): ProposedDiff {
  const { changes, fields } = proposedChanges(input)
  return { lines: changes.flatMap((change) => linesOfChange(view, change)), fields }
}

function linesOfChange(view: TerminalView, change: ProposedChange): string[] {
  const { screen, cwd } = view
  const { bold, dim, green, red } = screen.colors
  const compared = change.diff === undefined ? compareLines(change.before, change.after) : inDiff(change.diff)
  const count = (sign: string) => compared.filter((line) => line.sign === sign).length
  const path = change.path === undefined ? [] : [relativePath(change.path, cwd)]
  const verb = change.change === 'deleted' ? 'delete ' : ''
  const heading = path.map((name) => `${verb}${escapeInvisible(name)}  +${count('+')} −${count('-')}`)
  const paints: Record<ComparedLine['sign'], Style> = { ' ': dim, '-': red, '+': green }
  return [
    ...heading.flatMap((text) => rowsOf(screen.block('    ', text, bold))),
    ...compared.flatMap(({ sign, text }) => {
      const paint = paints[sign]
      const rows = rowsOf(screen.block('      ', escapeInvisible(text), paint, `    ${paint(sign)} `))
      // An empty line is a line of the change, too.
      return rows.length === 0 ? [`    ${paint(sign)}`] : rows
    }),
  ]
}

const SIGNS = { same: ' ', added: '+', removed: '-', hunk: ' ', header: ' ' } as const

function inDiff(diff: string): ComparedLine[] {
  return unifiedDiffLines(diff).map(({ kind, text }) => ({ sign: SIGNS[kind], text }))
}

function rowsOf(block: string): string[] {
  return block === '' ? [] : block.replace(/\n$/, '').split('\n')
}
