// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** The id of a session: a UUID v4. */
export type SessionId = string

/** An agent's own id of a conversation, safe to pass to the agent. */
export type NativeSessionId = string

/** A name that a person gives a session. It needs no quotes in a shell. */
export type SessionName = string
