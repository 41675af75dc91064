import { blobsOf } from '../../model/entry-blobs.ts'
import type { Entry, SessionRecord } from '../../model/index.ts'
import { type AcceptedPrompt, queuePreview } from '../../model/session/queue-preview.ts'
import { contentSize } from '../../model/text/content-size.ts'
import { Waiters } from '../../model/waiters.ts'
import { fitting } from '../read-bytes.ts'
import { cursorGone } from '../refusals.ts'
import { type Batch, type JournalFrame, NO_FENCE, type StoredState, type TrimPoint } from '../store.ts'

/** Consecutive entries. Readers share the list, so it never changes. */
interface Chunk {
  /** The last seq before it. */
  readonly after: number
  readonly entries: readonly Entry[]
  /** The first entry of each commit, and its place among the commits of all logs. */
  readonly commits: readonly { seq: number; order: number }[]
  /** The total size of the entries, computed on first use. */
  bytes?: number
}

/** Smaller chunks are merged, so that a log of single entries is not read one by one. */
const SHORT = 64

/** One log in memory, and its waiting readers. */
export class MemoryLog {
  state: StoredState | undefined
  fence = NO_FENCE
  owner: string | undefined
  #queue: readonly AcceptedPrompt[] = []
  /** One chunk per commit: one growing list would copy every entry again when it grows. */
  #chunks: Chunk[] = []
  readonly #journal: JournalFrame[] = []
  readonly #waiting = new Waiters()
  /** What was trimmed, and the blobs that it referred to. */
  #dropped = 0
  readonly #droppedBlobs: string[] = []
  #earliestFrame = 1

  get head(): number {
    return this.#last ? this.#last.after + this.#last.entries.length : 0
  }

  /** False for a log that has waiting readers but no entries. */
  get exists(): boolean {
    return this.state !== undefined || this.head > 0
  }

  get record(): SessionRecord | undefined {
    return (
      this.state && {
        ...this.state,
        queue: this.#queue.map(queuePreview),
        head: this.head,
        updatedAt: this.#last?.entries.at(-1)?.at ?? 0,
        ...(this.#dropped > 0 && { earliest: this.#dropped + 1 }),
        ...(this.#earliestFrame > 1 && { earliestFrame: this.#earliestFrame }),
      }
    )
  }

  /** The ids of all blobs of the log. Computed when the log is deleted, to keep appends cheap. */
  get blobs(): readonly string[] {
    return [...this.#droppedBlobs, ...this.#chunks.flatMap(blobIdsOf)]
  }

  /** `order` is the place of this commit among those of all logs. */
  append(
    { entries, journal = [], record, frameCounts, queued, dequeued, release }: Batch,
    order: number,
  ): void {
    if (entries.length > 0) this.#add(entries, order)
    for (const frame of journal) this.#journal.push(frame)
    if (record) this.state = record
    if (queued) this.#queue = [...this.#queue, ...queued]
    if (dequeued) this.#queue = this.#queue.filter(({ turn }) => !dequeued.includes(turn))
    if (frameCounts && this.state) this.state = { ...this.state, ...frameCounts }
    if (release) this.owner = undefined
    this.#waiting.wake()
  }

  queued(turn: number): AcceptedPrompt | undefined {
    return this.#queue.find((prompt) => prompt.turn === turn)
  }

  read(after: number, limit: number, maxBytes: number): readonly Entry[] {
    if (after < this.#dropped) throw cursorGone('entries', this.#dropped + 1)
    const index = this.#indexOf(after)
    const chunk = this.#chunks[index] ?? NOTHING
    const first = within(rest(chunk, after, limit), sizeOf(chunk), maxBytes)
    const isAll = after + first.length < lastOf(chunk) || index >= this.#chunks.length - 1
    return isAll ? first : this.#readOn(first, index + 1, limit, maxBytes - sizeOf(chunk))
  }

  /** The commit that added an entry, by its place among those of all logs. */
  orderOf(seq: number): number {
    const { commits } = this.#chunks[this.#indexOf(seq - 1)] ?? NOTHING
    return commits.findLast((commit) => commit.seq <= seq)?.order ?? 0
  }

  readJournal(after: number, limit: number, maxBytes: number): readonly JournalFrame[] {
    if (after + 1 < this.#earliestFrame) throw cursorGone('frames', this.#earliestFrame)
    const from = this.#journal.findIndex((kept) => kept.frame > after)
    const found = from < 0 ? [] : this.#journal.slice(from, from + limit)
    return found.slice(
      0,
      fitting(found, ({ text }) => text.length, maxBytes),
    )
  }

  trim({ seq = 0, frame = 0 }: TrimPoint): void {
    const last = Math.min(seq - 1, this.head - 1)
    if (last > this.#dropped) this.#drop(last)
    const frames = this.#journal.findLastIndex((kept) => kept.frame < frame) + 1
    const trimmed = this.#journal.splice(0, frames).at(-1)
    if (trimmed) this.#earliestFrame = trimmed.frame + 1
  }

  changed(after: number, signal: AbortSignal): Promise<void> {
    return this.head > after ? Promise.resolve() : this.#waiting.wait(signal)
  }

  /** Wakes all waiting readers of a deleted log. */
  close(): void {
    this.#waiting.wake()
  }

  get #last(): Chunk | undefined {
    return this.#chunks.at(-1)
  }

  #add(entries: readonly Entry[], order: number): void {
    const last = this.#last
    const isShort = last && last.entries.length + entries.length < SHORT
    const added = { after: this.head, entries, commits: [{ seq: this.head + 1, order }] }
    if (isShort) this.#chunks[this.#chunks.length - 1] = joined(last, added)
    else this.#chunks.push(added)
  }

  /** The index of the chunk that contains the entry after this one, or of the last chunk. */
  #indexOf(after: number): number {
    let [low, high] = [0, this.#chunks.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#chunks[middle]?.after ?? 0) <= after) low = middle
      else high = middle - 1
    }
    return low
  }

  /** Adds whole chunks that fit. The next read starts with the first that does not. */
  #readOn(found: readonly Entry[], from: number, limit: number, maxBytes: number): readonly Entry[] {
    const more = [...found]
    let room = maxBytes
    for (let index = from; index < this.#chunks.length && more.length < limit; index++) {
      const chunk = this.#chunks[index] ?? NOTHING
      room -= sizeOf(chunk)
      if (room < 0 && more.length > 0) break
      for (const entry of rest(chunk, chunk.after, limit - more.length)) more.push(entry)
    }
    return more
  }

  /** Trims up to this entry. A chunk is removed when all of its entries are. */
  #drop(seq: number): void {
    this.#dropped = seq
    const index = this.#indexOf(seq)
    if (index === 0) return
    this.#droppedBlobs.push(...this.#chunks.slice(0, index).flatMap(blobIdsOf))
    this.#chunks = this.#chunks.slice(index)
  }
}

const NOTHING: Chunk = { after: 0, entries: [], commits: [] }

function rest({ after: before, entries }: Chunk, after: number, limit: number): readonly Entry[] {
  const from = after - before
  return from === 0 && entries.length <= limit ? entries : entries.slice(from, from + limit)
}

function lastOf({ after, entries }: Chunk): number {
  return after + entries.length
}

function sizeOf(chunk: Chunk): number {
  chunk.bytes ??= contentSize(chunk.entries)
  return chunk.bytes
}

/** Measures single entries only if the chunk is too large. */
function within(entries: readonly Entry[], chunkBytes: number, maxBytes: number): readonly Entry[] {
  if (chunkBytes <= maxBytes) return entries
  return entries.slice(0, fitting(entries, contentSize, maxBytes))
}

function joined({ after, entries, commits }: Chunk, more: Chunk): Chunk {
  return { after, entries: [...entries, ...more.entries], commits: [...commits, ...more.commits] }
}

function blobIdsOf({ entries }: Chunk): string[] {
  return entries.flatMap((entry) => blobsOf(entry).map(({ id }) => id))
}
