import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Token } from './auth.ts'

/** A time in milliseconds, a random salt and a MAC. */
const VALUE = /^(\d{13})\.([\w-]{22})\.([\w-]{43})$/

/** A value that was issued for a token, with the time in it. */
export interface SignedValue {
  token: Token
  time: number
}

/**
 * Issues a value that replaces a token for one purpose. The key of its MAC is the digest of the token, so every server
 * that knows the token can check it, and nothing has to be stored.
 */
export function signFor(purpose: string, token: Token, time: number): string {
  const salt = randomBytes(16).toString('base64url')
  return `${time}.${salt}.${macOf(purpose, token, `${time}.${salt}`).toString('base64url')}`
}

/** The token that a value was issued for; undefined if it was for none of these. */
export function signedFor(purpose: string, known: readonly Token[], value: string): SignedValue | undefined {
  const [, time = '', salt = '', mac = ''] = VALUE.exec(value) ?? []
  const presented = Buffer.from(mac, 'base64url')
  let found: Token | undefined
  // Compares with every token, so that the time does not reveal which one matches.
  for (const token of known) {
    const expected = macOf(purpose, token, `${time}.${salt}`)
    if (presented.length === expected.length && timingSafeEqual(presented, expected)) found = token
  }
  return found && { token: found, time: Number(time) }
}

function macOf(purpose: string, { digest }: Token, text: string): Buffer {
  return createHmac('sha256', Buffer.from(digest, 'hex')).update(`${purpose}.${text}`).digest()
}
