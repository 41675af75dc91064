import type { BoardState } from '../../dialects/board-state.ts'
import { FACES, type SessionRecord } from '../../model/index.ts'
import type { SocketEnd } from '../streams/socket-stream.ts'

/** Where a session stands on this face: the fold of the dialect, told from what is kept beside the log. */
export function stateOf({ status, queue, lastOutcome }: SessionRecord): BoardState {
  if (status === 'busy' || queue.length > 0) return 'running'
  if (lastOutcome !== undefined) return FACES[lastOutcome].board
  return status === 'ended' ? 'done' : 'running'
}

const ENDS: Record<Exclude<BoardState, 'running'>, SocketEnd> = {
  done: { code: 1000, reason: 'done' },
  failed: { code: 4001, reason: 'failed' },
  cancelled: { code: 4002, reason: 'cancelled' },
}

/** A socket of this face is closed when nothing runs and nothing waits. */
export function endOf(record: SessionRecord): SocketEnd | undefined {
  const state = stateOf(record)
  return state === 'running' ? undefined : ENDS[state]
}
