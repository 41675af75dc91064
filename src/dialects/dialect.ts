import type { Entry, Event, EventType } from '../model/index.ts'

/** One message of an outside vocabulary: an object that JSON can carry. */
export type Message = Readonly<Record<string, unknown>>

/** What a reader may ask of a dialect, as its query says it: `raw=1` and the like. */
export type DialectOptions = Readonly<Record<string, string>>

/**
 * A projection is a fold: no clock, no random number, no I/O. It may mutate its own state in place.
 * Every reader starts it at the first entry, so equal logs give equal messages, and ids and times that a dialect
 * must invent are derived from the entry.
 */
export interface Dialect<State = unknown, Emitted extends Message = Message> {
  id: string
  initial(options: DialectOptions): State
  /** `raw` is the frame that the entry came from, where the caller has it: some dialects show it on request. */
  project(state: State, entry: Entry, raw?: string): readonly Emitted[]
  /** Nothing will ever follow what was said: the stream may be closed. */
  finished(state: State): boolean
}

/** Hides a projection's private state, so that dialects of different states fit one list. */
export function defineDialect<State, Emitted extends Message>(dialect: Dialect<State, Emitted>): Dialect {
  return dialect as Dialect
}

type Rule<State, E extends Event, Emitted> = (state: State, event: E, entry: Entry) => readonly Emitted[]

/** One rule for each event: the compiler finds the one that is missing. */
export type Rules<State, Emitted> = {
  readonly [T in EventType]: Rule<State, Extract<Event, { type: T }>, Emitted>
}

export function byRules<State, Emitted>(rules: Rules<State, Emitted>) {
  return (state: State, entry: Entry): readonly Emitted[] => {
    // The table pairs each type with a rule for that very type, which the compiler cannot follow through a lookup.
    const rule = rules[entry.event.type] as Rule<State, Event, Emitted>
    return rule(state, entry.event, entry)
  }
}

const NOTHING: readonly never[] = []

/** The rule for an event that has no place on a face and stays in the log. */
export const silent = (): readonly never[] => NOTHING
