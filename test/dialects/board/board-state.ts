import { advance, type BoardState, newStanding } from '../../../src/dialects/board/board-state.ts'
import type { Entry } from '../../../src/model/index.ts'

/** Returns the state after these entries, which start at the first entry of a log. */
export function boardState(entries: Iterable<Entry>): BoardState {
  const standing = newStanding()
  for (const { event } of entries) advance(standing, event)
  return standing.state
}
