import { z } from 'zod'
import { type Entry, type Event, FACES } from '../model/index.ts'
import { SESSION_OUTCOMES } from './outcome-words.ts'

/** Where a session stands on this face. It is no message: readers ask for it, or see the stream close. */
export const BoardState = z.enum(['running', 'done', 'failed', 'cancelled'])
export type BoardState = z.infer<typeof BoardState>

export interface Standing {
  state: BoardState
  /** Turns that were accepted and have no outcome yet, running or waiting. */
  readonly unfinished: Set<number>
}

/** A session is made for a prompt that is about to come. */
export function newStanding(): Standing {
  return { state: 'running', unfinished: new Set() }
}

/** The turn that leaves nothing waiting decides; a later turn sets the session running again. */
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

/** The state after these entries, which start at the first of a log. */
export function boardState(entries: Iterable<Entry>): BoardState {
  const standing = newStanding()
  for (const { event } of entries) advance(standing, event)
  return standing.state
}
