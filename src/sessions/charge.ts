import type { Event } from '../model/index.ts'
import type { Charge, SessionState } from '../stores/store.ts'

/** What an event adds to the account of the session's principal, if anything. */
export function chargeOf({ principal, agent }: SessionState, event: Event, at: number): Charge | undefined {
  switch (event.type) {
    case 'session.started':
      return { principal, agent, at, sessions: 1, turns: 0, usage: {} }
    case 'turn.completed':
      return { principal, agent, at, sessions: 0, turns: 1, usage: event.usage ?? {} }
    default:
      return undefined
  }
}
