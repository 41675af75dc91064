import { addUsage, type Event } from '../../model/index.ts'
import type { Charge, SessionState } from '../../stores/store.ts'
import { isBackgroundUsage } from './record.ts'

/**
 * The usage that an event adds to the account of its principal, if any. `state` includes the event. The usage of a turn
 * goes to the model that the session uses when the turn ends.
 */
export function chargeOf(state: SessionState, event: Event, at: number): Charge | undefined {
  const { principal, agent, model } = state
  const of = (used: string | undefined) => ({
    principal,
    agent,
    ...(used !== undefined && { model: used }),
    at,
  })
  switch (event.type) {
    case 'session.started':
      return { ...of(model), sessions: 1, turns: 0, usage: {} }
    case 'turn.completed':
      return { ...of(model), sessions: 0, turns: 1, usage: event.usage ?? {} }
    case 'usage.reported': {
      if (!isBackgroundUsage(state, event)) return undefined
      return { ...of(event.model ?? model), sessions: 0, turns: 0, usage: addUsage({}, event) }
    }
    default:
      return undefined
  }
}
