import type { Command } from '../../model/index.ts'
import type { Decoded } from '../agent.ts'
import { refuse, send } from './decoded.ts'
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

/** The rule of each command. Without a rule for `close`, the input of the agent is ended. */
type CommandRules<State> = {
  [Type in Exclude<Command['type'], 'close'>]: (
    state: State,
    command: Extract<Command, { type: Type }>,
  ) => Decoded
}

/** Encodes each command by the rule of its type. The compiler reports a missing one. */
export function encoder<State>(rules: CommandRules<State>): (state: State, command: Command) => Decoded {
  return (state, command) => {
    if (command.type === 'close') return send([{ kind: 'end' }])
    // The table maps each type to a rule for that type, which the compiler cannot follow through a lookup.
    const rule = rules[command.type] as (state: State, command: Command) => Decoded
    return rule(state, command)
  }
}

/** Refuses a command that this agent does not have. */
export function unsupportedBy(agent: string): (state: unknown, command: Command) => Decoded {
  return (_, { type }) => refuse('unsupported_option', `${agent} does not support "${type}"`)
}
