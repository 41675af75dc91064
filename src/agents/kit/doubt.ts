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
  /** A call that the agent visibly works on, for a protocol that answers a prompt when it has ended. */
  worksOn?: string | undefined
}

/**
 * Decides about a line that the agent may have. An answer to its request has the id of that request, so it counts once. A
 * call must not be repeated: the agent answers it with its id, which shows that it has it.
 */
export function doubtOfLine<Call>(write: Write, calls: Calls<Call>, rules: DoubtRules): Doubt | undefined {
  const message = write.kind === 'text' ? tryJson(write.text) : undefined
  if (!isFields(message)) return undefined
  const name = rules.nameOf(message)
  if (name === undefined || rules.repeatable.includes(name)) return 'again'
  // Nothing shows whether a notification has arrived.
  if (message.id === undefined) return undefined
  return calls.has(message.id) && name !== rules.worksOn ? 'watch' : 'received'
}
