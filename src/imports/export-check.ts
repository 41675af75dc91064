import { type BlobRef, type Entry, type Event, MainstemError, type SessionRecord } from '../model/index.ts'
import { stamp } from '../sessions/log/stamp.ts'
import { recordEvent } from '../sessions/machine/record.ts'
import { OpenWork, settlementOf } from '../sessions/recovery/recovery.ts'
import type { JournalFrame, SessionState } from '../stores/store.ts'

/** A part of a blob, before the first entry that refers to it. */
export interface BlobPart extends BlobRef {
  /** How many bytes are before it. */
  at: number
  data: Uint8Array
}

/** A line of an exported session. */
export type ExportLine =
  | { record: SessionRecord }
  | { entry: Entry }
  | { frame: JournalFrame }
  | { blob: BlobPart }
  | { end: { entries: number; frames: number } }

/** Fields of a record that its entries determine. */
const FOLDED = ['status', 'turns', 'openTurn', 'lastOutcome', 'usage'] as const

/**
 * Checks an exported session line by line: one record, its entries without a gap, its frames in order, and an end that
 * counts them. The entries must agree with the record.
 */
export class ExportCheck {
  readonly record: SessionRecord
  /** The session as its entries describe it. */
  readonly state: SessionState
  readonly #open = new OpenWork()
  #last: Entry | undefined
  #frames = 0
  #lastFrame = 0
  isComplete = false

  constructor(line: ExportLine) {
    if (!('record' in line)) throw damage('an export begins with its record')
    const { record } = line
    const { earliest = 1 } = record
    if (earliest > 1) throw trimmed(earliest)
    this.record = record
    const { head: _, updatedAt: __, earliest: ___, earliestFrame: ____, openTurn: _____, ...rest } = record
    this.state = { ...rest, status: 'idle', turns: 0, queue: [], requests: [], usage: {} }
    delete this.state.lastOutcome
    delete this.state.silentSince
  }

  take(line: ExportLine): void {
    if ('entry' in line) this.#entry(line.entry)
    else if ('frame' in line) this.#frame(line.frame)
    else if ('blob' in line) this.#blob()
    else if ('end' in line) this.#end(line.end)
    else throw damage('an export has one record')
  }

  /** Ends what was open when the session was exported; nothing where the session had ended. */
  closing(): Entry[] {
    const last = this.#last
    if (!last || this.state.status === 'ended') return []
    const { turn, events } = settlementOf(this.#open, this.state, last.at)
    const end: Event = { type: 'session.ended', reason: turn === undefined ? 'completed' : 'lost' }
    return [...events, end].map((event, index) => {
      recordEvent(this.state, event, last.at)
      const of = event.type === 'session.ended' ? undefined : turn
      return stamp(last.seq + index + 1, this.record.id, of, last.at, event, undefined)
    })
  }

  #entry(entry: Entry): void {
    const expected = (this.#last?.seq ?? 0) + 1
    if (this.#frames > 0) throw damage('entries come before frames')
    if (entry.seq !== expected) throw damage(`entry ${expected} is missing; this is entry ${entry.seq}`)
    if (entry.session !== this.record.id) throw damage(`the entry belongs to session ${entry.session}`)
    this.#last = entry
    this.#open.add(entry)
    recordEvent(this.state, entry.event, entry.at, entry.native)
  }

  #blob(): void {
    if (this.#frames > 0) throw damage('blobs come before frames')
  }

  #frame({ frame }: JournalFrame): void {
    if (frame <= this.#lastFrame || frame > this.record.frames)
      throw damage(`frame ${frame} is not between ${this.#lastFrame} and ${this.record.frames}`)
    this.#lastFrame = frame
    this.#frames++
  }

  #end({ entries, frames }: { entries: number; frames: number }): void {
    const read = this.#last?.seq ?? 0
    if (entries !== read || this.record.head !== read)
      throw damage(`the export has ${read} entries, and its end counts ${entries} of ${this.record.head}`)
    if (frames !== this.#frames)
      throw damage(`the export has ${this.#frames} frames, and its end counts ${frames}`)
    const { record, state } = this
    const wrong = FOLDED.find((field) => JSON.stringify(state[field]) !== JSON.stringify(record[field]))
    if (wrong !== undefined) throw damage(`the record does not match its entries: ${wrong}`)
    this.isComplete = true
  }
}

/** A log begins with its first entry, so a part of one is no log. */
function trimmed(earliest: number): MainstemError {
  return new MainstemError(
    'invalid_request',
    `the export begins at entry ${earliest}, because older entries were deleted; it cannot be imported`,
    { advice: 'Import an older export. `retention.entries` decides how many entries a server keeps.' },
  )
}

export function damage(what: string, line?: number): MainstemError {
  const where = line === undefined ? '' : `line ${line}: `
  const details = { ...(line !== undefined && { line }), advice: 'Export the session again.' }
  return new MainstemError('invalid_request', `${where}${what}`, details)
}
