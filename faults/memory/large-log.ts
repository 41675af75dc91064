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

/** A session with raw frames, a blob and queued images, each kind together much larger than the heap. */
export interface LargeParts {
  id: string
  /** Entries with a raw frame of 8 MiB. */
  frames: number
  blobMb: number
  /** Queued prompts with an image of 4 MiB. */
  queued: number
}

const MB = 1024 * 1024

export async function writeParts(home: string, { id, frames, blobMb, queued }: LargeParts): Promise<void> {
  await using store = await sqliteStore({ directory: join(home, 'log'), durability: 'process' })
  const stamp = (seq: number, event: Event): Entry => ({ seq, session: id, at: seq, event, native: seq })
  const writer = store.blobs.open()
  const chunk = new Uint8Array(MB)
  for (let written = 0; written < blobMb; written++) writer.write(chunk)
  const blob = await writer.close()
  const first = stamp(1, { type: 'native.unmapped', nativeType: 'large', blob })
  await store.create(id, { entries: [first], record: state(id, { agent: 'echo' }) })
  for (let seq = 2; seq < frames + 2; seq++) {
    const entries = [stamp(seq, { type: 'text.completed', messageId: `m${seq}`, text: 'x' })]
    const journal = [{ frame: seq, stream: 'stdout', text: String(seq % 10).repeat(8 * MB) }]
    await store.append(id, { entries, journal })
  }
  const data = 'A'.repeat(4 * MB)
  for (let turn = 1; turn <= queued; turn++) {
    const images = [{ mimeType: 'image/png', data }]
    await store.append(id, { entries: [], queued: [{ turn, prompt: 'look', images }] })
  }
}

/** Every 50th event ends a message; the events before it are its increments, unless they are large. */
function eventAt(index: number, text: string): Event {
  const isLast = index % 50 === 49 || text.length > 1_000_000
  const messageId = text.length > 1_000_000 ? `m${index}` : `m${Math.floor(index / 50)}`
  return { type: isLast ? 'text.completed' : 'text.delta', messageId, text: `${index} ${text}` }
}
