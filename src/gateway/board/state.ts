import type { BoardState } from '../../dialects/board/board-state.ts'
import { FACES, type SessionRecord } from '../../model/index.ts'
import type { SocketEnd } from '../streams/socket-stream.ts'

/** The board state of a session, derived from its record instead of folding the log. */
export function stateOf({ status, queue, lastOutcome, failure }: SessionRecord): BoardState {
  if (failure) return 'failed'
  if (status === 'busy' || queue.length > 0) return 'running'
  if (lastOutcome !== undefined) return FACES[lastOutcome].board
  return status === 'ended' ? 'done' : 'running'
}

const ENDS: Record<Exclude<BoardState, 'running'>, SocketEnd> = {
  done: { code: 1000, reason: 'done' },
  failed: { code: 4001, reason: 'failed' },
  cancelled: { code: 4002, reason: 'cancelled' },
}

/** Closes a board socket when no turn is running or queued. */
export function endOf(record: SessionRecord): SocketEnd | undefined {
  const state = stateOf(record)
  return state === 'running' ? undefined : ENDS[state]
}
