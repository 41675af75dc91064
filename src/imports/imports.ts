import type { AuditFact } from '../model/access.ts'
import { uuidOfDigest } from '../model/ids.ts'
import { type Entry, MainstemError, type SessionRecord, toMainstemError } from '../model/index.ts'
import { isImporting } from '../model/owner.ts'
import type { Hash } from '../model/text/large-value.ts'
import type { Sessions } from '../sessions/sessions.ts'
import type { JournalFrame, SessionState, Store } from '../stores/store.ts'
import { damage, ExportCheck, type ExportLine } from './export-check.ts'
import { ImportBlobs } from './import-blobs.ts'
import { type ImportTarget, KnownLog, NewLog } from './import-targets.ts'

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
  newHash(): Hash
}

/** The leases and the removal of sessions that are being imported. */
type ImportingSessions = Pick<Sessions, 'ownership' | 'remove'>

/** Who imports. The operator of the server keeps the ids of sessions, as in a restored backup. */
export interface Importer {
  principal: string
  keepsIds: boolean
  /** The row of the audit trail, for the session with this id. */
  fact?(session: string): AuditFact | undefined
}

/** Lines are written when they have this many characters together. */
const BATCH = 1024 * 1024

/**
 * Imports exported sessions. A session is visible only when all of its lines were checked and written; until then it
 * belongs to a principal that no caller is. What a crash leaves is removed at the next start.
 */
export class SessionImports {
  readonly #deps: ImportDeps
  readonly #sessions: ImportingSessions
  readonly #running = new Set<string>()

  constructor(deps: ImportDeps, sessions: ImportingSessions) {
    this.#deps = deps
    this.#sessions = sessions
  }

  /** Imports one session. Importing it again changes nothing. */
  async import(importer: Importer, lines: AsyncIterable<NumberedLine>): Promise<Imported> {
    let run: ImportRun | undefined
    let id: string | undefined
    let number = 0
    try {
      for await (const { line, size, value } of lines) {
        number = line
        if (run) await run.take(value, size)
        else {
          const check = new ExportCheck(value)
          id = this.#enter(await this.#idOf(importer, check.record.id))
          const state = { ...check.state, id, principal: importer.principal }
          run = new ImportRun(check, id, await this.#targetOf(state))
        }
      }
      if (!run || !id) throw damage('the file is empty')
      const { principal } = importer
      return await run.finish(importer, await this.#nativeIds(principal, run.record))
    } catch (thrown) {
      await run?.discard()
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

  /**
   * The id of an imported session. A principal other than the operator gets an id that only its imports have, so that no
   * import tells whether another principal has a session.
   */
  async #idOf({ principal, keepsIds }: Importer, id: string): Promise<string> {
    if (keepsIds || (await this.#deps.store.record(id))?.principal === principal) return id
    const hash = this.#deps.newHash()
    hash.update(new TextEncoder().encode(JSON.stringify(['import', principal, id])))
    return uuidOfDigest(hash.digest('hex'))
  }

  async #targetOf(state: SessionState): Promise<ImportTarget> {
    const { store } = this.#deps
    const { id, principal } = state
    const known = await store.record(id)
    if (known?.principal === principal) return new KnownLog(store, known, this.#deps.newHash)
    // Left by an import that was cut off.
    if (known && isImporting(known.principal)) await this.#sessions.remove(id)
    else if (known) throw new MainstemError('conflict', `the id ${id} is taken`)
    return new NewLog(store, this.#sessions.ownership, state, () => this.#sessions.remove(id))
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
  readonly #blobs: ImportBlobs
  readonly #id: string
  #entries: Entry[] = []
  #frames: JournalFrame[] = []
  #size = 0

  constructor(check: ExportCheck, id: string, target: ImportTarget) {
    this.#check = check
    this.#id = id
    this.target = target
    this.#blobs = new ImportBlobs(target.blobs)
  }

  get record(): SessionRecord {
    return this.#check.record
  }

  async take(line: ExportLine, size: number): Promise<void> {
    this.#check.take(line)
    if ('blob' in line) return this.#blobs.take(line.blob)
    if ('entry' in line) this.#entries.push(this.#blobs.entry(this.#own(line.entry)))
    else this.#blobs.checkNamed()
    if ('frame' in line) this.#frames.push(this.#blobs.frame(line.frame))
    this.#size += size
    if (this.#size >= BATCH) await this.#flush()
  }

  async finish({ principal, fact }: Importer, nativeIds: Partial<SessionState>): Promise<Imported> {
    if (!this.#check.isComplete) throw damage('the export was cut off: it has no end line')
    await this.#flush()
    const closing = this.#check.closing().map((entry) => this.#own(entry))
    const { nativeSessionId: _, announcedSessionId: __, resumedFrom: ___, ...state } = this.#check.state
    const id = this.#id
    await this.target.finish({ ...state, ...nativeIds, id, principal }, closing, fact?.(id))
    const { head } = this.record
    return { id, entries: head, isNew: this.target instanceof NewLog }
  }

  async discard(): Promise<void> {
    await this.#blobs.discard()
    await this.target.discard()
  }

  #own(entry: Entry): Entry {
    return entry.session === this.#id ? entry : { ...entry, session: this.#id }
  }

  async #flush(): Promise<void> {
    const [entries, frames] = [this.#entries, this.#frames]
    this.#entries = []
    this.#frames = []
    this.#size = 0
    if (entries.length > 0) await this.target.entries(entries)
    this.#blobs.stored()
    if (frames.length > 0) await this.target.frames(frames)
  }
}

/** Names the line, where the error does not name one already. */
function atLine(thrown: unknown, line: number): unknown {
  const { code, message, details } = toMainstemError(thrown)
  if (code !== 'invalid_request' || details?.line !== undefined || line === 0) return thrown
  return new MainstemError(code, `line ${line}: ${message}`, { ...details, line }, { cause: thrown })
}
