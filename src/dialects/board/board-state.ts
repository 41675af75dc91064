import * as z from 'zod'
import { type Event, FACES } from '../../model/index.ts'
import { SESSION_OUTCOMES } from '../kit/outcome-messages.ts'

/** The state of a session in the board API. It is not a message: clients query it, or see the stream close. */
export const BoardState = z.enum(['running', 'done', 'failed', 'cancelled'])
export type BoardState = z.infer<typeof BoardState>

export interface Standing {
  state: BoardState
  /** Turns that were accepted and have no outcome yet, running or queued. */
  readonly unfinished: Set<number>
}

/** A session starts as running, because it is created for a prompt. */
export function newStanding(): Standing {
  return { state: 'running', unfinished: new Set() }
}

/** The turn that leaves the queue empty sets the state; a later turn sets the session running again. */
export function advance(standing: Standing, event: Event): BoardState {
  const { unfinished } = standing
  if (event.type === 'turn.queued' || event.type === 'turn.started') {
    unfinished.add(event.turn)
    standing.state = 'running'
  } else if (event.type === 'turn.completed') {
    unfinished.delete(event.turn)
    if (unfinished.size === 0) standing.state = FACES[event.outcome].board
  } else if (event.type === 'session.ended' && standing.state === 'running') {
    standing.state = FACES[SESSION_OUTCOMES[event.reason]].board
  }
  return standing.state
}
