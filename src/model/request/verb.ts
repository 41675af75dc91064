import type { Verb } from '../session/capability.types.ts'

const VERBS: ReadonlyMap<string, Verb> = new Map([
  ['/compact', 'compact'],
  ['/review', 'review'],
])

/** The command that a prompt consists of, as a person types it in the terminals of agents. */
export function verbIn(prompt: string): Verb | undefined {
  return VERBS.get(prompt.trim())
}
