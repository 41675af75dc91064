import type { Actor } from '../model/access.ts'
import type { Author } from '../model/request/request.ts'
import type { NewSession } from '../model/session/new-session.ts'
import type { Claim } from './claim.ts'

/** What accompanies a command. Plain data, so that another node can commit claims and actor with the effect. */
export interface CommandContext {
  /** Idempotency keys to store. */
  claims?: readonly Claim[]
  /** Who sent the command. Without it, nothing is added to the audit trail, because nobody sent it. */
  actor?: Actor | undefined
  /** Variables of the caller, for the next process of the agent. They are not stored, so another node does not get them. */
  keys?: NewSession['keys']
  /** The session whose conversation a new session copies. */
  forkOf?: string | undefined
}

type AuthorFields = { [Field in keyof Author]?: Author[Field] | undefined }

/** The part of a sender that events name. */
export function authorOf({ principal, client }: AuthorFields = {}): Partial<Author> {
  return { ...(principal !== undefined && { principal }), ...(client && { client }) }
}
