import { addUsage, type Event } from '../model/index.ts'
import type { Charge, SessionState } from '../stores/store.ts'
import { isBackgroundUsage } from './record.ts'

/** The usage that an event adds to the account of its principal, if any. `state` includes the event. */
export function chargeOf(state: SessionState, event: Event, at: number): Charge | undefined {
  const { principal, agent } = state
  switch (event.type) {
    case 'session.started':
      return { principal, agent, at, sessions: 1, turns: 0, usage: {} }
    case 'turn.completed':
      return { principal, agent, at, sessions: 0, turns: 1, usage: event.usage ?? {} }
    case 'usage.reported': {
      if (!isBackgroundUsage(state, event)) return undefined
      return { principal, agent, at, sessions: 0, turns: 0, usage: addUsage({}, event) }
    }
    default:
      return undefined
  }
}
