import type { TurnCompleted } from '../../model/events/turn.ts'
import type { Entry, SessionRecord } from '../../model/index.ts'
import type { Store } from '../../stores/store.ts'
import { LastAnswer } from '../machine/last-answer.ts'

const WINDOW = 512

/** Reads the end of a turn from its log, from the newest entries to the oldest; undefined where it is not kept. */
export async function settledTurn(
  store: Store,
  session: string,
  turn: number,
): Promise<TurnCompleted | undefined> {
  const record = await store.record(session)
  let completed: TurnCompleted | undefined
  for (const [after, last] of windowsOf(record)) {
    const found = await scan(store, session, turn, after, last)
    completed ??= found.completed
    // The last message may be in an earlier window than the end of its turn.
    if (completed) completed = found.answer.fill(completed)
    if (completed?.result !== undefined || (completed && found.isStart)) return completed
  }
  return completed
}

function* windowsOf(record: SessionRecord | undefined): Generator<[after: number, last: number]> {
  const { head = 0, earliest = 1 } = record ?? {}
  for (let last = head; last >= earliest; last -= WINDOW) yield [Math.max(earliest - 1, last - WINDOW), last]
}

/** Scans a part of the log for a turn: its end, its last message, and whether it begins here. */
async function scan(store: Store, session: string, turn: number, after: number, last: number) {
  const answer = new LastAnswer()
  let completed: TurnCompleted | undefined
  let isStart = false
  const inspect = ({ event, turn: of }: Entry) => {
    if (of !== turn) return
    if (event.type === 'turn.completed') completed = event
    else if (event.type === 'turn.started' || event.type === 'turn.queued') isStart = true
    else if (event.type === 'text.completed' && event.parent === undefined) answer.keep(event.text, turn)
  }
  for (let cursor = after; cursor < last; ) {
    const entries = await store.read(session, cursor, last - cursor)
    for (const entry of entries) inspect(entry)
    cursor = entries.at(-1)?.seq ?? last
  }
  return { completed, answer, isStart }
}
