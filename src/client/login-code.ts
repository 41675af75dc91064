/** 32 characters that cannot be confused with each other. */
const ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'

/**
 * The code of a login link, from the digest of its token. The terminal and the page show it, and a person compares them
 * before the login is allowed.
 */
export function loginCode(digest: string): string {
  let bits = Number.parseInt(digest.slice(0, 10), 16)
  let code = ''
  for (let count = 0; count < 8; count++) {
    code = `${ALPHABET[bits % 32]}${code}`
    bits = Math.floor(bits / 32)
  }
  return `${code.slice(0, 4)}-${code.slice(4)}`
}
