import { tryJson } from '../../model/text/json.ts'
import type { Doubt, Write } from '../agent.ts'
import type { Calls } from './calls.ts'
import { type Fields, isFields } from './fields.ts'

/** What is known of the messages of a protocol whose writer died before it knew whether the agent has them. */
interface DoubtRules {
  /** The kind of a message; undefined for an answer to a request of the agent. */
  nameOf(message: Fields): string | undefined
  /** A second one of these changes nothing. */
  repeatable: readonly string[]
  /** A second one of these would be another prompt. The agent answers each with its id. */
  prompts: readonly string[]
  /** The agent works on the prompt of the turn, for a protocol that answers a prompt when it has ended. */
  hasWorked?: boolean
}

/** Decides about a line that the agent may have. Its answer to a request has the id of that request: it counts once. */
export function doubtOfLine<Call>(write: Write, calls: Calls<Call>, rules: DoubtRules): Doubt | undefined {
  const message = write.kind === 'text' ? tryJson(write.text) : undefined
  if (!isFields(message)) return undefined
  const name = rules.nameOf(message)
  if (name === undefined || rules.repeatable.includes(name)) return 'again'
  if (!rules.prompts.includes(name)) return undefined
  return calls.has(message.id) && !rules.hasWorked ? 'watch' : 'received'
}
