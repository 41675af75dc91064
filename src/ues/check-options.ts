import { MainstemError } from '../model/index.ts'
import type { AgentOptions } from './adapter.ts'

const OPTIONS: Record<keyof AgentOptions, true> = {
  cwd: true,
  model: true,
  permissionTier: true,
  permissionMode: true,
  maxTurns: true,
  maxBudgetUsd: true,
  resume: true,
  abortSignal: true,
  allowedTools: true,
  disallowedTools: true,
  canUseTool: true,
}

/** Refuses unknown options, because a misspelled limit would otherwise be ignored. */
export function checkOptions(options: AgentOptions): void {
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(OPTIONS, option)) continue
    const near = nearest(option)
    const advice =
      near === undefined ? `Known options: ${Object.keys(OPTIONS).join(', ')}.` : `Did you mean ${near}?`
    throw new MainstemError('unsupported_option', `${option} is not an option. ${advice}`, { option })
  }
}

/** The known option with the smallest edit distance, if it is small. */
function nearest(option: string): string | undefined {
  const ranked = Object.keys(OPTIONS)
    .map((name) => ({ name, changes: distance(plain(option), plain(name)) }))
    .sort((a, b) => a.changes - b.changes)
  const [best] = ranked
  return best && best.changes <= Math.max(1, option.length / 3) ? best.name : undefined
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '')
}

/** The edit distance of two words: the letters to add, remove or replace. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1]
    for (const [index, same] of [...other].entries()) {
      const replaced = (row[index] ?? 0) + (letter === same ? 0 : 1)
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
