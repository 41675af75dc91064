import type { AuditRecord, Grant } from '../../model/access.ts'
import type { AccessChange, AccessStore, AuditFact, AuditPlace, AuditQuery, StoredToken } from '../access.ts'

/** Tokens, grants and the audit trail in memory. */
export class MemoryAccess implements AccessStore {
  /** Without a token where it was removed. */
  readonly #tokens = new Map<string, StoredToken | undefined>()
  readonly #grants = new Map<string, Grant>()
  readonly #trail: AuditRecord[] = []

  async tokens(): Promise<StoredToken[]> {
    const tokens = [...this.#tokens.values()].filter((token) => token !== undefined)
    return tokens.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async grants(): Promise<Grant[]> {
    return [...this.#grants].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, grant]) => grant)
  }

  async change(change: AccessChange, fact: AuditFact): Promise<boolean> {
    const isChanged = this.#change(change, { at: Date.now(), by: fact.principal })
    if (isChanged) this.add([fact])
    return isChanged
  }

  async note(fact: AuditFact): Promise<void> {
    this.add([fact])
  }

  /** Adds the rows of a commit. */
  add(facts: readonly AuditFact[]): void {
    const at = Date.now()
    for (const fact of facts) this.#trail.push({ ...fact, at })
  }

  async audit({ order, after, limit, ...query }: AuditQuery): Promise<AuditRecord[]> {
    const { principal, action, session, since = 0, until = Number.POSITIVE_INFINITY } = query
    const sign = order === 'newest' ? -1 : 1
    return this.#trail
      .filter(
        (one) =>
          (principal ?? one.principal) === one.principal &&
          (action ?? one.action) === one.action &&
          (session === undefined || session === one.session) &&
          one.at >= since &&
          one.at < until &&
          (after === undefined || sign * byPlace(one, after) > 0),
      )
      .sort((a, b) => sign * byPlace(a, b))
      .slice(0, limit)
  }

  async forgetAudit(ms: number): Promise<void> {
    const before = Date.now() - ms
    const kept = this.#trail.filter(({ at }) => at >= before)
    this.#trail.splice(0, this.#trail.length, ...kept)
  }

  #change(change: AccessChange, added: Pick<Grant, 'at' | 'by'>): boolean {
    switch (change.type) {
      case 'token.added': {
        const { type: _, onlyIfUnknown, ...token } = change
        const isKnown = onlyIfUnknown ? this.#tokens.has(token.name) : this.#tokens.get(token.name)
        if (!isKnown) this.#tokens.set(token.name, { ...token, ...added })
        return !isKnown
      }
      case 'token.removed': {
        const isThere = this.#tokens.get(change.name) !== undefined
        if (isThere) this.#tokens.set(change.name, undefined)
        return isThere
      }
      case 'grant.added': {
        const { to, of } = change
        const isKnown = this.#grants.has(`${to} ${of}`)
        if (!isKnown) this.#grants.set(`${to} ${of}`, { to, of, ...added })
        return !isKnown
      }
      case 'grant.removed':
        return this.#grants.delete(`${change.to} ${change.of}`)
      default:
        return change satisfies never
    }
  }
}

const byPlace = (a: AuditPlace, b: AuditPlace) => a.at - b.at || (a.id < b.id ? -1 : Number(a.id > b.id))
