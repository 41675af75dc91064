import * as z from 'zod'
import type * as types from './ids.types.ts'

/** Ids from outside must match this pattern before they are used in an argv: no flag, no path, no newline. */
export const OUTSIDE_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/

/** The id of a session: a UUID v4. */
export const SessionId = z.uuidv4()
export type SessionId = types.SessionId

/** An agent's own id of a conversation, safe to pass to the agent. */
export const NativeSessionId = z.string().regex(OUTSIDE_ID)

/** A name that a person gives a session. It needs no quotes in a shell. */
export const SessionName = z
  .string()
  .max(64)
  .regex(
    /^[A-Za-z][A-Za-z0-9._-]*$/,
    'a name begins with a letter, followed by letters, digits, ".", "_" or "-"',
  )

/** A UUID of version 4, as all sessions have, from a digest in hexadecimal digits. */
export function uuidOfDigest(digest: string): string {
  const variant = '89ab'[Number.parseInt(digest.charAt(16), 16) % 4]
  const [a, b, c, d] = [digest.slice(0, 8), digest.slice(8, 12), digest.slice(13, 16), digest.slice(17, 20)]
  return `${a}-${b}-4${c}-${variant}${d}-${digest.slice(20, 32)}`
}
