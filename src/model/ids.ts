import { z } from 'zod'

/** Ids that come from outside meet this pattern before they come near an argv: no flag, no path, no newline. */
export const OUTSIDE_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/

/** Session ids are UUIDs v4 on every face. */
export const SessionId = z.uuidv4()
export type SessionId = z.infer<typeof SessionId>

/** An agent's own id of its conversation, safe to hand back to the agent. */
export const NativeSessionId = z.string().regex(OUTSIDE_ID)

/** A name that a person gives a session: one word that a shell needs no quotes for. */
export const SessionName = z
  .string()
  .max(64)
  .regex(
    /^[A-Za-z][A-Za-z0-9._-]*$/,
    'a name begins with a letter, followed by letters, digits, ".", "_" or "-"',
  )
