import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { sameToken, type Token } from './auth.ts'

/** How long a stream can outlive its token. */
const CHECK_MS = 1_000

interface RevocableRequest {
  token: Token
  end(): void
}

/** Ends open requests, mainly streams, whose token was removed or replaced. */
export class Revocation {
  readonly #deps: Pick<GatewayDeps, 'tokens' | 'report'>
  readonly #open = new Set<RevocableRequest>()
  readonly #timer: NodeJS.Timeout | undefined

  constructor(deps: Pick<GatewayDeps, 'tokens' | 'report'>) {
    this.#deps = deps
    if (deps.tokens) this.#timer = setInterval(() => void this.#check(), CHECK_MS).unref()
  }

  /** Calls `end` when the token no longer exists. The returned function removes the request. */
  add(token: Token, end: () => void): () => void {
    const request = { token, end }
    this.#open.add(request)
    return () => this.#open.delete(request)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #check(): Promise<void> {
    if (this.#open.size === 0 || !this.#deps.tokens) return
    try {
      const known = await this.#deps.tokens()
      for (const request of this.#open) {
        if (sameToken(known, request.token)) continue
        this.#open.delete(request)
        request.end()
      }
    } catch (thrown) {
      // An unreadable token list proves nothing about a token. The token source has reported the error.
      if (!(thrown instanceof MainstemError)) this.#deps.report(thrown)
    }
  }
}
