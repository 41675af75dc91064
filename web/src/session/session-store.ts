import {
  applyEntry,
  type ConnectionState,
  type Entry,
  isForPerson,
  newTimeline,
  type SessionFacts,
  type SessionRecord,
  type Timeline,
} from 'mainstem/client'
import { client, codeOf, leftOut, messageOf } from '../app/client.ts'
import { Store } from '../app/store.ts'

/** Entries that are read at first, and by each step backwards. */
const PAGE = 400
/** Entries that are folded without a pause. */
const STRETCH = 1_000

/** The delay before the page reads a log again that the server could not write. */
const STORAGE_MS = 5_000

export type Connection =
  | { state: 'live' }
  | { state: 'catching-up'; head: number }
  | { state: 'offline' }
  | { state: 'ended' }

export interface SessionView {
  record: SessionRecord | undefined
  timeline: Timeline
  /** Counts changes of the timeline, which grows in place. */
  version: number
  /** The number of entries that were prepended since the session was opened. */
  prepended: number
  connection: Connection
  loadingOlder: boolean
  error: { code: string | undefined; message: string } | undefined
}

/** Events after which the record of a session is another one. */
const RECORD_EVENTS = /^(?:session|turn|request)\./

/**
 * One session as the page shows it: the tail of its log, older pages on demand, and everything that follows. Entries are
 * folded by `seq`, each once, so that a connection may break and resume anywhere.
 */
export class SessionStore extends Store<SessionView> {
  readonly id: string
  #entries: Entry[] = []
  #arrived: Entry[] = []
  #start: SessionFacts | undefined
  #frame: number | undefined
  #refreshing: Promise<void> | undefined
  #stale = false
  #stop = new AbortController()

  constructor(id: string) {
    super({
      record: undefined,
      timeline: newTimeline(),
      version: 0,
      prepended: 0,
      connection: { state: 'catching-up', head: 0 },
      loadingOlder: false,
      error: undefined,
    })
    this.id = id
  }

  /** Reads the tail once, then follows the log until `stop`. Resumes behind the last entry that is folded. */
  async follow(): Promise<void> {
    this.#stop = new AbortController()
    const { signal } = this.#stop
    while (await this.#mayFollowAgain(signal)) await new Promise((resolve) => setTimeout(resolve, STORAGE_MS))
  }

  /** Follows the log to its end, or to a failure. Returns true if the server could not write the log. */
  async #mayFollowAgain(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    try {
      const record = await client.session(this.id, signal)
      this.update({ record, error: undefined })
      if (this.get().timeline.last === 0) {
        await this.#readTail(record)
        void this.#readStart()
      }
      await this.#read(signal)
      if (!signal.aborted) this.update({ connection: { state: 'ended' } })
      return false
    } catch (thrown) {
      if (signal.aborted || leftOut(thrown)) return false
      const code = codeOf(thrown)
      this.update({ error: { code, message: messageOf(thrown) }, connection: { state: 'offline' } })
      if (code !== 'storage_failed') return false
      void this.refresh()
      return true
    }
  }

  stop(): void {
    this.#stop.abort()
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame)
    this.#flush()
  }

  /** The number of folded entries: all from the first to the last, each once. */
  get count(): number {
    return this.#entries.length
  }

  /** Whether the log has entries before the first one that is here. */
  get hasOlder(): boolean {
    const { record, timeline } = this.get()
    return timeline.first > (record?.earliest ?? 1)
  }

  /** Puts the page before the first entry in front, and folds everything again from there. */
  async older(): Promise<void> {
    const { loadingOlder, timeline, record } = this.get()
    if (loadingOlder || !this.hasOlder || timeline.first === 0) return
    this.update({ loadingOlder: true })
    try {
      const from = Math.max((record?.earliest ?? 1) - 1, timeline.first - 1 - PAGE)
      const older = await this.#pages(from, timeline.first - 1)
      const again = await this.#foldAgain(older)
      const { version, prepended } = this.get()
      this.update({ timeline: again, version: version + 1, prepended: prepended + older.length })
    } catch (thrown) {
      if (!leftOut(thrown)) this.update({ error: { code: codeOf(thrown), message: messageOf(thrown) } })
    } finally {
      this.update({ loadingOlder: false })
    }
  }

  /** Folds older entries and all that are here, with a pause after each stretch, so that a long log blocks nothing. */
  async #foldAgain(older: readonly Entry[]): Promise<Timeline> {
    this.#flush()
    const known = this.#entries.length
    const entries = [...older, ...this.#entries]
    const again = newTimeline()
    if (this.#start) Object.assign(again.facts, this.#start)
    for (let from = 0; from < entries.length; from += STRETCH) {
      for (const entry of entries.slice(from, from + STRETCH)) applyEntry(again, entry)
      await new Promise((resolve) => setTimeout(resolve))
    }
    // Entries that arrived in the pauses are in the old fold only.
    this.#flush()
    const arrived = this.#entries.slice(known)
    for (const entry of arrived) applyEntry(again, entry)
    this.#entries = [...entries, ...arrived]
    return again
  }

  /** Reads the record again. A call during a call makes one more, so that the last answer is never an old one. */
  async refresh(): Promise<void> {
    this.#stale = true
    this.#refreshing ??= this.#readRecord().finally(() => {
      this.#refreshing = undefined
    })
    await this.#refreshing
  }

  async #readRecord(): Promise<void> {
    while (this.#stale) {
      this.#stale = false
      try {
        this.update({ record: await client.session(this.id) })
      } catch (thrown) {
        // The stream reports a lost connection, and asks again when it is back.
        leftOut(thrown)
      }
    }
  }

  async #readTail({ head, earliest = 1 }: SessionRecord): Promise<void> {
    const entries = await this.#pages(Math.max(earliest - 1, head - PAGE), head)
    this.#arrived.push(...entries)
    this.#flush()
    // The message that is being written began before the page: without its beginning it would be misread.
    for (let tries = 0; tries < 5 && this.#startsInside(); tries++) await this.older()
  }

  /** Loads the capabilities of the agent from the first entries, which the tail of a long log does not have. */
  async #readStart(): Promise<void> {
    const { timeline, record } = this.get()
    // The last agent that continued the session has begun there.
    const after = record?.handedOver?.through ?? 0
    if (timeline.first <= after + 1 || (record?.earliest ?? 1) > after + 1) return
    const types = ['session.started', 'session.handed_over', 'session.updated'] as const
    const { entries = [] } = await client.page(this.id, { after, types, limit: 2 })
    const start = newTimeline()
    for (const entry of entries) applyEntry(start, entry)
    const known = Object.entries(this.get().timeline.facts).filter(([, value]) => isKnown(value))
    this.#start = start.facts
    Object.assign(this.get().timeline.facts, start.facts, Object.fromEntries(known))
    this.update({ version: this.get().version + 1 })
  }

  #startsInside(): boolean {
    const first = this.get().timeline.items[0]
    return (
      this.hasOlder && (first?.kind === 'text' || first?.kind === 'thinking') && first.state === 'streaming'
    )
  }

  async #pages(after: number, last: number): Promise<Entry[]> {
    const entries: Entry[] = []
    for (let from = after; from < last; ) {
      const page = await client.page(this.id, { after: from, limit: Math.min(1000, last - from) })
      entries.push(...(page.entries ?? []))
      if (Number(page.next) <= from) break
      from = Number(page.next)
    }
    return entries
  }

  async #read(signal: AbortSignal): Promise<void> {
    const onConnection = (state: ConnectionState) => this.#connected(state)
    const after = this.get().timeline.last
    for await (const entry of client.entries(this.id, { after, signal, onConnection })) {
      this.#arrived.push(entry)
      // Once a frame: a fast stream must not render each entry.
      this.#frame ??= requestAnimationFrame(() => this.#flush())
    }
    this.#flush()
  }

  #connected(state: ConnectionState): void {
    if (state === 'closed' && !this.#stop.signal.aborted) this.update({ connection: { state: 'offline' } })
    if (state !== 'open') return
    // The current head of the log. Until that entry arrives, the page shows the past.
    void this.refresh().then(() => this.#settle(true))
  }

  #settle(opened: boolean): void {
    const { record, timeline, connection } = this.get()
    if (connection.state === 'ended' || (!opened && connection.state === 'offline')) return
    const head = Math.max(record?.head ?? 0, connection.state === 'catching-up' ? connection.head : 0)
    const next: Connection = timeline.last >= head ? { state: 'live' } : { state: 'catching-up', head }
    if (next.state !== connection.state) this.update({ connection: next })
  }

  #flush(): void {
    this.#frame = undefined
    const arrived = this.#arrived
    if (arrived.length === 0) return
    this.#arrived = []
    const { timeline, version } = this.get()
    let changed = false
    for (const entry of arrived) {
      if (entry.seq <= timeline.last) continue
      this.#entries.push(entry)
      applyEntry(timeline, entry)
      changed ||= RECORD_EVENTS.test(entry.event.type)
    }
    this.update({ version: version + 1 })
    this.#settle(false)
    if (changed) void this.refresh()
  }
}

function isKnown(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0)
}

/** The requests that wait for an answer. The record knows those before the stretch, the fold knows the newest. */
export function openRequests({ record, timeline }: SessionView): SessionRecord['requests'] {
  const open = new Map<string, SessionRecord['requests'][number]>()
  for (const request of record?.requests ?? []) open.set(request.requestId, request)
  for (const [id, { seq, request, resolved, withdrawn }] of timeline.requests) {
    if (resolved || withdrawn) open.delete(id)
    else if (seq > (record?.head ?? 0)) open.set(id, request)
  }
  return [...open.values()].filter(isForPerson)
}
