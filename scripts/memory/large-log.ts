import { join } from 'node:path'
import type { Entry, Event } from '../../src/model/index.ts'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import { state } from '../../test/stores/sqlite-parts.ts'

export interface LargeLog {
  id: string
  /** Besides the start of its one turn, which is still open. */
  entries: number
  /** Characters of text in each of them. */
  size: number
  /** How many are committed together. */
  batch: number
}

/** Writes a session with an open turn into a store in `home`, as its owner would leave it in a crash. */
export async function writeLog(home: string, { id, entries, size, batch }: LargeLog): Promise<void> {
  await using store = await sqliteStore({ directory: join(home, 'log'), durability: 'process' })
  const stamp = (seq: number, event: Event): Entry => ({ seq, session: id, turn: 1, at: seq, event })
  const started: Event = { type: 'turn.started', turn: 1, origin: 'prompt', prompt: 'go' }
  const record = state(id, { status: 'busy', turns: 1, openTurn: 1 })
  await store.create(id, { entries: [stamp(1, started)], record })
  const text = 'x'.repeat(size)
  for (let from = 0; from < entries; from += batch) {
    const events = Array.from({ length: Math.min(batch, entries - from) }, (_, index) =>
      stamp(from + index + 2, eventAt(from + index, text)),
    )
    await store.append(id, { entries: events })
  }
}

/** Every 50th event ends a message; the events before it are its increments, unless they are large. */
function eventAt(index: number, text: string): Event {
  const isLast = index % 50 === 49 || text.length > 1_000_000
  const messageId = text.length > 1_000_000 ? `m${index}` : `m${Math.floor(index / 50)}`
  return { type: isLast ? 'text.completed' : 'text.delta', messageId, text: `${index} ${text}` }
}
