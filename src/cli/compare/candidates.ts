import { MainstemError } from '../../model/outcome/mainstem-error.ts'

/** An agent to compare. */
export interface Candidate {
  /** Its unique label in the output. */
  label: string
  agent: string
  model?: string
}

/** More do not fit beside each other. */
const MOST = 8

/** Reads `claude,codex` or `claude:opus,claude:haiku`. */
export function candidatesOf(list: string): Candidate[] {
  const words = list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  if (words.length < 2 || words.length > MOST) {
    throw new MainstemError(
      'invalid_request',
      `compare takes 2 to ${MOST} agents, and "${list}" has ${words.length}`,
      {
        advice: 'Separate them by commas: `mainstem compare claude,codex "…"`.',
      },
    )
  }
  const seen = new Map<string, number>()
  return words.map((word) => {
    const count = (seen.get(word) ?? 0) + 1
    seen.set(word, count)
    const colon = word.indexOf(':')
    const [agent, model] = colon === -1 ? [word] : [word.slice(0, colon), word.slice(colon + 1)]
    const label = count === 1 ? word : `${word} ${count}`
    return { label, agent, ...(model && { model }) }
  })
}
