import { type Actor, type AuditAction, type AuditFact, type AuditRecord, auditId } from '../model/access.ts'
import type { AuditQuery } from '../stores/access.ts'
import type { Store } from '../stores/store.ts'

export type { AuditQuery }

/** What is known of an action besides who did it. */
export type AuditSubject = Pick<AuditFact, 'session' | 'details'>

/**
 * Who did what. A command of a session adds its fact to the commit of its effect (`SessionParts.note`). All other
 * actions use this class: pass `fact` to the store call that has the effect, as in
 * `store.access.change(change, trail.fact('grant.added', actor, { details: { to, of } }))`, or call `note` for an action
 * that changes nothing in the store, such as an export.
 */
export class AuditTrail {
  readonly #access: Store['access']
  readonly #newId: () => string
  readonly #isKept: boolean

  /** `isKept` is false where nobody can read the trail, because its store ends with the process. */
  constructor({ access }: Pick<Store, 'access'>, newId: () => string, isKept: boolean) {
    this.#access = access
    this.#newId = newId
    this.#isKept = isKept
  }

  /** The row of an action, to commit with its effect. */
  fact(action: AuditAction, actor: Actor, { session, details }: AuditSubject = {}): AuditFact {
    return {
      id: auditId(this.#newId()),
      action,
      ...actor,
      ...(session !== undefined && { session }),
      ...(details && { details }),
    }
  }

  /** Like `fact`, for a command that nobody may have sent; undefined then, and where the trail is not kept. */
  factOf(action: AuditAction, actor: Actor | undefined, subject?: AuditSubject): AuditFact | undefined {
    return actor && this.#isKept ? this.fact(action, actor, subject) : undefined
  }

  /** Stores the row of an action that has no commit of its own. */
  async note(action: AuditAction, actor: Actor | undefined, subject?: AuditSubject): Promise<void> {
    const fact = this.factOf(action, actor, subject)
    if (fact) await this.#access.note(fact)
  }

  /** Reads a page of the trail. */
  read(query: AuditQuery): Promise<readonly AuditRecord[]> {
    return this.#access.audit(query)
  }
}
