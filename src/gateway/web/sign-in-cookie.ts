import { MainstemError } from '../../model/index.ts'
import type { Token } from '../http/auth.ts'
import { signedFor, signFor } from '../http/signed-value.ts'

/** How long a browser stays signed in. */
export const SIGN_IN_MS = 7 * 24 * 60 * 60 * 1000

const PURPOSE = 'sign-in'

/**
 * Issues and checks the cookie of a signed-in browser: a signed value with its expiry. The server keeps no state: a
 * restart keeps browsers signed in, and removing the token invalidates every cookie that was issued for it.
 */
export class SignInCookies {
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  issue(token: Token): string {
    return signFor(PURPOSE, token, this.#now() + SIGN_IN_MS)
  }

  /** The token of the principal that signed in. Throws `unauthorized` with the reason, which the sign-in page shows. */
  tokenOf(value: string, known: readonly Token[]): Token {
    const found = signedFor(PURPOSE, known, value)
    if (found === undefined)
      throw new MainstemError('unauthorized', 'the token you signed in with was removed or replaced')
    if (this.#now() >= found.time) throw new MainstemError('unauthorized', 'your sign-in has expired')
    return found.token
  }
}
