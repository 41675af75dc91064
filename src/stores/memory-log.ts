import type { Entry, SessionRecord } from '../model/index.ts'
import { blobOf } from './blob-of.ts'
import { cursorGone } from './cursor-gone.ts'
import type { Batch, Edge, JournalFrame, SessionState } from './store.ts'

/** One log in memory, and who waits for it. */
export class MemoryLog {
  state: SessionState | undefined
  readonly #entries: Entry[] = []
  readonly #journal: JournalFrame[] = []
  readonly #waiting = new Set<() => void>()
  /** What was dropped at the front, and what that referred to. */
  #dropped = 0
  readonly #droppedBlobs: string[] = []
  #earliestFrame = 1

  get head(): number {
    return this.#dropped + this.#entries.length
  }

  get record(): SessionRecord | undefined {
    return (
      this.state && {
        ...this.state,
        head: this.head,
        updatedAt: this.#entries.at(-1)?.at ?? 0,
        ...(this.#dropped > 0 && { earliest: this.#dropped + 1 }),
        ...(this.#earliestFrame > 1 && { earliestFrame: this.#earliestFrame }),
      }
    )
  }

  /** The ids of all that its entries ever referred to: looked for when a log goes, and not with every entry. */
  get blobs(): readonly string[] {
    return [...this.#droppedBlobs, ...blobsOf(this.#entries)]
  }

  append({ entries, journal = [], record, heard }: Batch): void {
    for (const entry of entries) this.#entries.push(entry)
    for (const frame of journal) this.#journal.push(frame)
    if (record) this.state = record
    if (heard && this.state) this.state = { ...this.state, ...heard }
    this.#wakeAll()
  }

  read(after: number, limit: number): readonly Entry[] {
    if (after < this.#dropped) throw cursorGone('entries', this.#dropped + 1)
    return this.#entries.slice(after - this.#dropped, after - this.#dropped + limit)
  }

  readJournal(after: number, limit: number): readonly JournalFrame[] {
    if (after + 1 < this.#earliestFrame) throw cursorGone('frames', this.#earliestFrame)
    return this.#journal.filter((kept) => kept.frame > after).slice(0, limit)
  }

  trim({ seq = 0, frame = 0 }: Edge): void {
    const entries = Math.min(seq - 1, this.head - 1) - this.#dropped
    if (entries > 0) {
      this.#droppedBlobs.push(...blobsOf(this.#entries.splice(0, entries)))
      this.#dropped += entries
    }
    const frames = this.#journal.findLastIndex((kept) => kept.frame < frame) + 1
    const last = this.#journal.splice(0, frames).at(-1)
    if (last) this.#earliestFrame = last.frame + 1
  }

  changed(after: number, signal: AbortSignal): Promise<void> {
    if (this.head > after || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
  }

  /** Nothing more will come: whoever waits is let go. */
  close(): void {
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const wake of [...this.#waiting]) wake()
  }
}

function blobsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ event }) => blobOf(event)?.id ?? [])
}
