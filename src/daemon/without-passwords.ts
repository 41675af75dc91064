import { passwordsIn } from '../stores/postgres/address.ts'

/** The URL of a database as people may see it. The longest first: a password may be a part of how it is written. */
export function withoutPasswords(url: string): string {
  const passwords = passwordsIn(url).toSorted((a, b) => b.length - a.length)
  return passwords.reduce((text, password) => text.replaceAll(password, '…'), url)
}
