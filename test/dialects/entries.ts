import type { Dialect, Message } from '../../src/dialects/dialect.ts'
import type { Entry, Event } from '../../src/model/index.ts'

const SESSION = '3f0f4a8e-5f0a-4f57-9d5e-0c6a4d3b2a11'

/** A log of these events. */
export function entriesOf(...events: Event[]): Entry[] {
  return events.map((event, index) => ({ seq: index + 1, session: SESSION, at: 1_000 + index, event }))
}

/** Everything a dialect says about a log. */
export function projectAll(
  dialect: Dialect,
  entries: readonly Entry[],
  options: Record<string, string> = {},
): Message[] {
  const state = dialect.initial(options)
  return entries.flatMap((entry) => dialect.project(state, entry))
}
