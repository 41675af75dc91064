// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** Says when and why a queued prompt runs that Mainstem itself wrote, to continue work that was cut off. */
export type Continuation = {
  /** Why the turn before ended: its process went away, or a usage limit was used up. */
  reason: 'lost' | 'limit'
  /** The turn to continue. */
  after: number
  /** When the prompt runs, in milliseconds since 1970. */
  at: number
  /** The number of continuations since a person's last prompt, this included. */
  attempt: number
  /** The largest number of continuations. */
  of: number
  /** The agent that continues; the same by default. */
  agent?: string | undefined
  /** The latest time to run, in milliseconds since 1970. After it the prompt is dropped. */
  until: number
}

/** The continuations since a person's last prompt. */
export type ContinuationCount = {
  /** The number of continuations since a person's last prompt, this included. */
  attempt: number
  /** The latest time to run, in milliseconds since 1970. After it the prompt is dropped. */
  until: number
}

/** Another agent continues after a limit. */
export type ContinueAs = {
  /** The id of the agent that continues. */
  continueAs: string
}

/**
 * What happens after a turn that a usage limit ended: nothing, the session continues after the limit has
 * reset, or another agent continues it.
 */
export type OnLimit = 'fail' | 'wait' | ContinueAs

/** The caps of work that continues without a person. A prompt of a person starts them anew. */
export type ContinuationCaps = {
  /** The largest number of continuations; 3 by default. */
  max?: number | undefined
  /** How long after the first cut-off turn the last continuation may begin; 12 hours by default. */
  withinMs?: number | undefined
}
