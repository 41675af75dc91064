import { type Entry, MainstemError, type SessionRecord, toMainstemError } from '../../model/index.ts'
import type { JournalFrame, SessionState, Store } from '../../stores/store.ts'
import type { Ownership } from '../recovery/ownership.ts'
import { damage, ExportCheck, type ExportLine } from './export-check.ts'
import { IMPORTING, type ImportTarget, KnownLog, NewLog } from './import-targets.ts'

/** A line with its place in the file, and its length in characters. */
export interface NumberedLine {
  line: number
  size: number
  value: ExportLine
}

export interface Imported {
  id: string
  entries: number
  /** False if the session was there already. */
  isNew: boolean
}

export interface ImportDeps {
  store: Store
  ownership: Ownership
  remove(id: string): Promise<void>
}

/** Lines are written when they have this many characters together. */
const BATCH = 1024 * 1024

/**
 * Imports exported sessions. A session is visible only when all of its lines were checked and written; until then it
 * belongs to a principal that no caller is. What a crash leaves is removed at the next start.
 */
export class SessionImports {
  readonly #deps: ImportDeps
  readonly #running = new Set<string>()

  constructor(deps: ImportDeps) {
    this.#deps = deps
  }

  /** Imports one session for a principal. Importing it again changes nothing. */
  async import(principal: string, lines: AsyncIterable<NumberedLine>): Promise<Imported> {
    let run: ImportRun | undefined
    let id: string | undefined
    let number = 0
    try {
      for await (const { line, size, value } of lines) {
        number = line
        if (run) await run.take(value, size)
        else {
          const check = new ExportCheck(value)
          id = this.#enter(check.record.id)
          run = new ImportRun(check, await this.#targetOf(principal, check))
        }
      }
      if (!run || !id) throw damage('the file is empty')
      return await run.finish(principal, await this.#nativeIds(principal, run.record))
    } catch (thrown) {
      await run?.target.discard()
      throw atLine(thrown, number)
    } finally {
      if (id !== undefined) this.#running.delete(id)
    }
  }

  #enter(id: string): string {
    if (this.#running.has(id))
      throw new MainstemError('conflict', `session ${id} is being imported by another request`)
    this.#running.add(id)
    return id
  }

  async #targetOf(principal: string, { record: { id }, state }: ExportCheck): Promise<ImportTarget> {
    const { store, ownership, remove } = this.#deps
    const known = await store.record(id)
    if (known?.principal === principal) return new KnownLog(store, known)
    // Left by an import that was cut off.
    if (known?.principal === IMPORTING) await remove(id)
    else if (known) throw new MainstemError('conflict', `the id ${id} is taken`)
    return new NewLog(store, ownership, state, () => remove(id))
  }

  /** The agent's own ids, if this server knows them as those of the principal: with them, it can be resumed. */
  async #nativeIds(principal: string, record: SessionRecord): Promise<Partial<SessionState>> {
    const kept: Partial<SessionState> = {}
    for (const field of ['nativeSessionId', 'announcedSessionId', 'resumedFrom'] as const) {
      const native = record[field]
      if (native === undefined) continue
      const owners = await this.#deps.store.nativeOwners(native)
      if (owners.length > 0 && owners.every((owner) => owner === principal)) kept[field] = native
    }
    return kept
  }
}

/** One import: checks each line, and writes them in batches. */
class ImportRun {
  readonly target: ImportTarget
  readonly #check: ExportCheck
  #entries: Entry[] = []
  #frames: JournalFrame[] = []
  #size = 0

  constructor(check: ExportCheck, target: ImportTarget) {
    this.#check = check
    this.target = target
  }

  get record(): SessionRecord {
    return this.#check.record
  }

  async take(line: ExportLine, size: number): Promise<void> {
    this.#check.take(line)
    if ('entry' in line) this.#entries.push(line.entry)
    if ('frame' in line) this.#frames.push(line.frame)
    this.#size += size
    if (this.#size >= BATCH) await this.#flush()
  }

  async finish(principal: string, nativeIds: Partial<SessionState>): Promise<Imported> {
    if (!this.#check.isComplete) throw damage('the export was cut off: it has no end line')
    await this.#flush()
    const closing = this.#check.closing()
    const { nativeSessionId: _, announcedSessionId: __, resumedFrom: ___, ...state } = this.#check.state
    await this.target.finish({ ...state, ...nativeIds, principal }, closing)
    const { id, head } = this.record
    return { id, entries: head, isNew: this.target instanceof NewLog }
  }

  async #flush(): Promise<void> {
    const [entries, frames] = [this.#entries, this.#frames]
    this.#entries = []
    this.#frames = []
    this.#size = 0
    if (entries.length > 0) await this.target.entries(entries)
    if (frames.length > 0) await this.target.frames(frames)
  }
}

/** Names the line, where the error does not name one already. */
function atLine(thrown: unknown, line: number): unknown {
  const { code, message, details } = toMainstemError(thrown)
  if (code !== 'invalid_request' || details?.line !== undefined || line === 0) return thrown
  return new MainstemError(code, `line ${line}: ${message}`, { ...details, line }, { cause: thrown })
}
