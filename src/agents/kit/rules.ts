import type { Decoded } from '../agent.ts'
import type { Fields } from './fields.ts'

/** Decodes the frames of one native type. `raw` is the text of the frame. */
export type FrameRule<State> = (state: State, native: Fields, raw: string) => Decoded

/**
 * Looks up a rule by a native type, which is untrusted input: the type "constructor" must not find an inherited
 * property.
 */
export function ruleTable<Rule>(rules: Readonly<Record<string, Rule>>): (type: unknown) => Rule | undefined {
  const byType = new Map<unknown, Rule>(Object.entries(rules))
  return (type) => byType.get(type)
}
