import type { Read } from './session.ts'

const TURN_ENDS: ReadonlySet<string> = new Set(['turnCompleted', 'turnFailed'])

/**
 * The events of one turn: from its `turnStarted`, with the `sessionStarted` directly before it, to its end, with the
 * `sessionEnded` directly after it. `isInside`: the first event may already be one of the turn.
 */
export async function* eventsOfTurn(
  reads: AsyncIterable<Read>,
  turn: number,
  isInside: boolean,
): AsyncGenerator<Read, void, void> {
  let hasBegun = isInside
  let hasEnded = false
  let before: Read | undefined
  for await (const read of reads) {
    const { event } = read
    const number = 'turnNumber' in event ? event.turnNumber : undefined
    if (hasEnded || (event.type === 'turnStarted' && event.turnNumber > turn)) {
      if (event.type === 'sessionEnded') yield read
      return
    }
    if (!hasBegun && number === turn) {
      if (before?.event.type === 'sessionStarted') yield before
      hasBegun = true
    }
    before = read
    // A queued prompt of another stream may be dropped meanwhile.
    if (!hasBegun || (number !== undefined && number !== turn)) continue
    yield read
    hasEnded = number === turn && TURN_ENDS.has(event.type)
    if (event.type === 'sessionEnded') return
  }
  // The session ended before the turn began.
  if (!hasBegun && before?.event.type === 'sessionEnded') yield before
}
