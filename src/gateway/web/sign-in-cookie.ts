import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { MainstemError } from '../../model/index.ts'
import type { Token } from '../http/auth.ts'

/** How long a browser stays signed in. */
export const SIGN_IN_MS = 7 * 24 * 60 * 60 * 1000

const VALUE = /^(\d{13})\.([\w-]{22})\.([\w-]{43})$/

/**
 * Issues and checks the cookie of a signed-in browser. The value is an expiry time, a random salt and a MAC whose key is
 * the digest of one token. The server keeps no state: a restart keeps browsers signed in, and removing the token
 * invalidates every cookie that was issued for it.
 */
export class SignInCookies {
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  issue(token: Token): string {
    const expiry = String(this.#now() + SIGN_IN_MS)
    const salt = randomBytes(16).toString('base64url')
    return `${expiry}.${salt}.${macOf(token, expiry, salt).toString('base64url')}`
  }

  /** The token of the principal that signed in. Throws `unauthorized` with the reason, which the sign-in page shows. */
  tokenOf(value: string, known: readonly Token[]): Token {
    const [, expiry = '', salt = '', mac = ''] = VALUE.exec(value) ?? []
    const presented = Buffer.from(mac, 'base64url')
    let found: Token | undefined
    // Compares with every token, so that the time does not reveal which one matches.
    for (const token of known) {
      const expected = macOf(token, expiry, salt)
      if (presented.length === expected.length && timingSafeEqual(presented, expected)) found = token
    }
    if (found === undefined)
      throw new MainstemError('unauthorized', 'the token you signed in with was removed or replaced')
    if (this.#now() >= Number(expiry)) throw new MainstemError('unauthorized', 'your sign-in has expired')
    return found
  }
}

function macOf({ digest }: Token, expiry: string, salt: string): Buffer {
  return createHmac('sha256', Buffer.from(digest, 'hex')).update(`sign-in.${expiry}.${salt}`).digest()
}
