import type { FastifyRequest } from 'fastify'
import type { Grant } from '../../model/access.ts'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { sameToken, type Token } from './auth.ts'

/** How long a stream can outlive its token, besides the time until this server sees the change. */
const CHECK_MS = 1_000

/** What an open request depends on. */
type Grounds = Pick<FastifyRequest, 'token' | 'grantedBy'>

/** What was removed. */
export type Removed = 'token' | 'grant'

interface RevocableRequest extends Grounds {
  end(removed: Removed): void
}

type RevocationDeps = Pick<GatewayDeps, 'tokens' | 'accessControl' | 'report'>

/** Ends open requests, mainly streams, whose token or grant was removed, on any server of the store. */
export class Revocation {
  readonly #deps: RevocationDeps
  readonly #open = new Set<RevocableRequest>()
  readonly #timer: NodeJS.Timeout | undefined

  constructor(deps: RevocationDeps) {
    this.#deps = deps
    if (deps.tokens) this.#timer = setInterval(() => void this.#check(), CHECK_MS).unref()
  }

  /** Calls `end` when the token or a grant no longer exists. The returned function removes the request. */
  add({ token, grantedBy }: Grounds, end: RevocableRequest['end']): () => void {
    const request = { token, grantedBy, end }
    this.#open.add(request)
    return () => this.#open.delete(request)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #check(): Promise<void> {
    if (this.#open.size === 0 || !this.#deps.tokens) return
    try {
      const [tokens, grants] = await Promise.all([this.#deps.tokens(), this.#deps.accessControl.grants()])
      for (const request of this.#open) {
        const removed = removedOf(request, tokens, grants)
        if (removed === undefined) continue
        this.#open.delete(request)
        request.end(removed)
      }
    } catch (thrown) {
      // A store that cannot be read proves nothing about a token.
      if (!(thrown instanceof MainstemError)) this.#deps.report(thrown)
    }
  }
}

function removedOf(
  { token, grantedBy }: Grounds,
  tokens: readonly Token[],
  grants: readonly Grant[],
): Removed | undefined {
  if (!sameToken(tokens, token)) return 'token'
  const isGranted = (owner: string) => grants.some(({ to, of }) => to === token.principal && of === owner)
  return [...grantedBy].every(isGranted) ? undefined : 'grant'
}
