import type { Entry, Event, EventType } from '../model/index.ts'

/** One message of a dialect: a JSON object. */
export type Message = Readonly<Record<string, unknown>>

/** Options from the query string of a subscriber, such as `raw=1`. */
export type DialectOptions = Readonly<Record<string, string>>

/**
 * A projection is a fold without clock, random numbers or I/O. It may mutate its own state. Every subscriber starts at
 * the first entry, so equal logs give equal messages; ids and times that a dialect adds are derived from the entry.
 */
export interface Dialect<State = unknown, Emitted extends Message = Message> {
  id: string
  initial(options: DialectOptions): State
  /** `raw` is the native frame of the entry, if the caller has it; some dialects include it on request. */
  project(state: State, entry: Entry, raw?: string): readonly Emitted[]
  /** Returns true when no message can follow, so that the stream may be closed. */
  finished(state: State): boolean
}

/** Hides the state type of a projection, so that dialects with different states fit in one list. */
export function defineDialect<State, Emitted extends Message>(dialect: Dialect<State, Emitted>): Dialect {
  return dialect as Dialect
}

type EntryRule<State, E extends Event, Emitted> = (state: State, event: E, entry: Entry) => readonly Emitted[]

/** One rule per event type: the compiler reports a missing one. */
export type EntryRules<State, Emitted> = {
  readonly [T in EventType]: EntryRule<State, Extract<Event, { type: T }>, Emitted>
}

export function byRules<State, Emitted>(rules: EntryRules<State, Emitted>) {
  return (state: State, entry: Entry): readonly Emitted[] => {
    // The table maps each type to a rule for that type, which the compiler cannot follow through a lookup.
    const rule = rules[entry.event.type] as EntryRule<State, Event, Emitted>
    return rule(state, entry.event, entry)
  }
}

const NOTHING: readonly never[] = []

/** The rule for an event that a dialect cannot represent. The event stays in the log. */
export const silent = (): readonly never[] => NOTHING
