import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import {
  type AccessChange,
  type Actor,
  type AuditFact,
  actionOf,
  auditId,
  type Grant,
  loginName,
  type StoredToken,
} from '../../model/access.ts'
import { MainstemError } from '../../model/index.ts'
import { isLogin, type LoginToken, type Token } from '../http/auth.ts'

/** Where tokens and grants are kept. Every server of a store sees the same. */
export interface AccessRecords {
  tokens(): Promise<readonly StoredToken[]>
  grants(): Promise<readonly Grant[]>
  change(change: AccessChange, fact: AuditFact): Promise<boolean>
}

/** The name of a token, and of its principal. */
const Name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/)

/** Maximum number of logins of one principal. */
const MAX_LOGINS = 100

/** Tokens, logins and grants: the one place that reads and changes who may use the servers of a store. */
export class AccessControl {
  readonly #records: AccessRecords
  readonly #fixed: readonly Token[]
  #known: { stored: readonly StoredToken[]; tokens: readonly Token[] } | undefined

  /** `fixed`: the tokens that are not in the store, and cannot be removed. */
  constructor(records: AccessRecords, fixed: readonly Token[]) {
    this.#records = records
    this.#fixed = fixed
  }

  /** While the store cannot be read, those that were read last: without the store, they give access to no session. */
  async tokens(): Promise<readonly Token[]> {
    try {
      const stored = await this.#records.tokens()
      if (this.#known?.stored !== stored)
        this.#known = { stored, tokens: [...this.#fixed, ...stored.map(tokenFrom)] }
    } catch (thrown) {
      if (!this.#known) throw thrown
    }
    return this.#known.tokens
  }

  /** The tokens that operators added. */
  async named(): Promise<readonly StoredToken[]> {
    return (await this.#records.tokens()).filter(({ login }) => login === undefined)
  }

  /** Adds a token for a new principal, by its digest. */
  async addToken({ name, digest }: Pick<StoredToken, 'name' | 'digest'>, actor: Actor): Promise<void> {
    if (!Name.safeParse(name).success) {
      const message = `${name}: a name may contain only lower-case letters, digits, "-" and "_"`
      throw new MainstemError('invalid_request', message, { field: 'name' })
    }
    const isAdded =
      !this.#isFixed(name) && (await this.#change({ type: 'token.added', name, digest, roles: [] }, actor))
    if (!isAdded) throw new MainstemError('conflict', `a token ${name} already exists`)
  }

  /** Removes the token of a principal and the logins that it allowed. Its sessions are kept. */
  async removeToken(name: string, actor: Actor): Promise<void> {
    if (this.#isFixed(name)) {
      const message = `${name} is the first token of a server; delete its file to create a new one`
      throw new MainstemError('invalid_request', message)
    }
    const isNamed = Name.safeParse(name).success
    if (!isNamed || !(await this.#change({ type: 'token.removed', name }, actor)))
      throw new MainstemError('not_found', `no token ${name}`)
  }

  /** Adds the token of a command line, which acts for the caller. */
  async addLogin(login: string, digest: string, caller: Token, actor: Actor): Promise<LoginToken> {
    const { principal, roles } = caller
    // A stolen login could otherwise create others that survive its removal.
    if (isLogin(caller)) {
      throw new MainstemError('forbidden', 'a login cannot create another login', {
        advice: 'Open the link in a browser that is signed in.',
      })
    }
    const known = await this.tokens()
    if (known.filter((one) => one.principal === principal && isLogin(one)).length >= MAX_LOGINS)
      throw new MainstemError('conflict', `${principal} has ${MAX_LOGINS} logins; remove one first`)
    const allowedBy = this.#fixed.some(({ digest: known }) => known === caller.digest)
      ? {}
      : { allowedBy: caller.digest }
    const change = { type: 'login.added', principal, login, digest, roles, ...allowedBy } as const
    const isUsed = known.some((one) => one.digest === digest) || !(await this.#change(change, actor))
    if (isUsed) throw new MainstemError('conflict', 'this link was used before')
    const added = (await this.tokens()).filter(isLogin).find((one) => one.digest === digest)
    if (!added) throw new MainstemError('conflict', `the token of ${principal} was just removed`)
    return added
  }

  async removeLogin({ digest }: LoginToken, actor: Actor): Promise<void> {
    await this.#change({ type: 'token.removed', name: loginName(digest) }, actor)
  }

  grants(): Promise<readonly Grant[]> {
    return this.#records.grants()
  }

  /** The principals whose sessions a principal may read, and whose requests it may answer. */
  async readableBy(principal: string): Promise<ReadonlySet<string>> {
    const grants = await this.grants()
    return new Set([principal, ...grants.filter(({ to }) => to === principal).map(({ of }) => of)])
  }

  /** Lets `to` read the sessions of `of` and answer their requests. */
  async addGrant({ to, of }: Pick<Grant, 'to' | 'of'>, actor: Actor): Promise<void> {
    if (to === of) throw new MainstemError('invalid_request', `${to} has access to its own sessions anyway`)
    const names = new Set((await this.tokens()).map(({ principal }) => principal))
    const unknown = [to, of].find((name) => !names.has(name))
    if (unknown !== undefined) {
      throw new MainstemError('not_found', `no token ${unknown}`, {
        advice: `Add it first: \`mainstem token add ${unknown}\`.`,
      })
    }
    if (!(await this.#change({ type: 'grant.added', to, of }, actor)))
      throw new MainstemError('conflict', `${to} may already read and answer the sessions of ${of}`)
  }

  async removeGrant({ to, of }: Pick<Grant, 'to' | 'of'>, actor: Actor): Promise<void> {
    if (!(await this.#change({ type: 'grant.removed', to, of }, actor)))
      throw new MainstemError('not_found', `${to} has no grant for the sessions of ${of}`)
  }

  #isFixed(name: string): boolean {
    return this.#fixed.some(({ principal }) => principal === name)
  }

  #change(change: AccessChange, actor: Actor): Promise<boolean> {
    const fact = { ...actor, id: auditId(randomUUID()), action: actionOf(change), details: detailsOf(change) }
    return this.#records.change(change, fact)
  }
}

/** What the audit trail tells of a change besides its action. */
export function detailsOf(change: AccessChange): Record<string, string> {
  switch (change.type) {
    case 'token.added':
    case 'token.removed':
      return { name: change.name }
    case 'login.added':
      return { name: loginName(change.digest), principal: change.principal, login: change.login }
    case 'grant.added':
    case 'grant.removed':
      return { to: change.to, of: change.of }
    case 'webhook.added':
      return { webhook: change.webhook.id, kind: change.webhook.kind }
    case 'webhook.changed':
    case 'webhook.removed':
      return { webhook: change.id }
    default:
      return change satisfies never
  }
}

function tokenFrom({ principal, roles, digest, login, at }: StoredToken): Token {
  const more = login === undefined ? {} : { login: { name: login, createdAt: Math.floor(at) } }
  return { principal, roles, digest, ...more }
}
