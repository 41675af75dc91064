import type { Entry, EventType, SessionPage, SessionQuery, SessionRecord } from 'mainstem/client'
import { client, codeOf, leftOut, messageOf } from '../app/client.ts'
import { Store } from '../app/store.ts'
import { say } from '../ui/toasts.tsx'
import { ACTIVITY_TYPES, activities } from './activities.ts'

export interface InboxView {
  records: ReadonlyMap<string, SessionRecord>
  loaded: boolean
  /** `before` of the next page of older sessions. */
  next: string | undefined
  /** The failed sessions, however old; read when someone looks for them. */
  failed: { loaded: boolean; next: string | undefined }
  online: boolean
  /** Since when the server cannot write its store. */
  degraded: number | undefined
  error: string | undefined
}

const PAGE = 200

const NOT_READ = { loaded: false, next: undefined }

/** Changed sessions are read again after this pause, each once. */
const GATHER_MS = 150

/** The interval of reads of the last output of running sessions. Deltas are not streamed here. */
const POLL_MS = 15_000

/** Events that change what the list shows. */
const TYPES: readonly EventType[] = [
  'session.started',
  'session.updated',
  'session.ended',
  'turn.queued',
  'turn.started',
  'turn.completed',
  'request.opened',
  'request.resolved',
  'request.withdrawn',
  'notice.raised',
]

const RECORD_TYPES: ReadonlySet<EventType> = new Set(TYPES)

/** All sessions of the principal, kept up to date by the stream of all sessions. */
export class InboxStore extends Store<InboxView> {
  readonly #changed = new Set<string>()
  readonly #hidden = new Set<string>()
  #arrived: Entry[] = []
  #stop = new AbortController()

  constructor() {
    super({
      records: new Map(),
      loaded: false,
      next: undefined,
      failed: NOT_READ,
      online: true,
      degraded: undefined,
      error: undefined,
    })
  }

  async follow(): Promise<void> {
    this.#stop = new AbortController()
    const { signal } = this.#stop
    const poll = setInterval(() => this.#poll(), POLL_MS)
    signal.addEventListener('abort', () => clearInterval(poll))
    while (!signal.aborted) {
      try {
        await this.#read(signal)
      } catch (thrown) {
        if (signal.aborted || leftOut(thrown)) break
        this.update({ error: messageOf(thrown), online: false })
        await new Promise((resolve) => setTimeout(resolve, 2_000))
      }
    }
    clearInterval(poll)
  }

  stop(): void {
    this.#stop.abort()
  }

  async more(): Promise<void> {
    const { next } = this.get()
    if (next === undefined) return
    await this.#readMore({ before: next }, (page) => ({ next: page.next }))
  }

  /** Reads the newest failed sessions, or the ones after those. */
  async moreFailed(): Promise<void> {
    const { loaded, next } = this.get().failed
    if (loaded && next === undefined) return
    const query = { failed: true, ...(next !== undefined && { before: next }) }
    await this.#readMore(query, (page) => ({ failed: { loaded: true, next: page.next } }))
  }

  async #readMore(query: SessionQuery, change: (page: SessionPage) => Partial<InboxView>): Promise<void> {
    try {
      const page = await client.sessions({ ...query, limit: PAGE })
      this.#merge(page.sessions)
      this.update(change(page))
    } catch (thrown) {
      if (!leftOut(thrown)) say(messageOf(thrown))
    }
  }

  /** Reads one session again, and removes it where it no longer exists. */
  async refresh(id: string): Promise<void> {
    try {
      this.#merge([await client.session(id)])
    } catch (thrown) {
      if (codeOf(thrown) !== 'session_not_found') return void leftOut(thrown)
      const records = new Map(this.get().records)
      records.delete(id)
      this.update({ records })
    }
  }

  /** Leaves a session out, as long as its deletion can be undone. */
  hide(id: string, isHidden: boolean): void {
    if (isHidden) this.#hidden.add(id)
    else this.#hidden.delete(id)
    const records = new Map(this.get().records)
    if (isHidden) records.delete(id)
    this.update({ records })
    if (!isHidden) void this.refresh(id)
  }

  async #read(signal: AbortSignal): Promise<void> {
    const live = client.live({
      types: [...TYPES, ...ACTIVITY_TYPES],
      signal,
      onNotice: (notice) =>
        this.update({ degraded: notice.type === 'server.degraded' ? notice.since : undefined }),
      onConnection: (state) => {
        if (state !== 'connecting') this.update({ online: state === 'open' })
        // Opened before the list is read: a session that begins in between is in one of the two.
        if (state === 'open') void this.#list().catch(leftOut)
      },
    })
    try {
      for await (const entry of live) this.#note(entry)
    } catch (thrown) {
      // The server restarted: its list is read again with the next connection.
      if (codeOf(thrown) !== 'cursor_gone') throw thrown
    }
  }

  async #list(): Promise<void> {
    const [newest, asking, busy] = await Promise.all([
      client.sessions({ limit: PAGE }),
      client.sessions({ limit: PAGE, asking: true }),
      client.sessions({ limit: PAGE, status: 'busy' }),
    ])
    // In one change: an empty list in between would be shown, and no change since the last one announced.
    const all = [...newest.sessions, ...asking.sessions, ...busy.sessions]
    const records = new Map(all.map((record) => [record.id, record]))
    for (const id of this.#hidden) records.delete(id)
    this.update({ records, loaded: true, next: newest.next, failed: NOT_READ, error: undefined })
    await activities.read(busy.sessions)
  }

  #note(entry: Entry): void {
    if (this.#arrived.length === 0) setTimeout(() => this.#readChanged(), GATHER_MS)
    this.#arrived.push(entry)
    if (RECORD_TYPES.has(entry.event.type)) this.#changed.add(entry.session)
  }

  #readChanged(): void {
    activities.note(this.#arrived)
    this.#arrived = []
    const changed = [...this.#changed]
    this.#changed.clear()
    for (const id of changed) void this.refresh(id)
  }

  #poll(): void {
    if (![...this.get().records.values()].some(({ status }) => status === 'busy')) return
    void client
      .sessions({ limit: PAGE, status: 'busy' })
      .then(({ sessions }) => this.#merge(sessions))
      .catch(leftOut)
  }

  #merge(found: readonly SessionRecord[]): void {
    const records = new Map(this.get().records)
    for (const record of found) {
      if (this.#hidden.has(record.id)) continue
      const known = records.get(record.id)
      // Two calls may answer in the wrong order.
      if (!known || known.head <= record.head) records.set(record.id, record)
    }
    this.update({ records })
  }
}

export const inbox = new InboxStore()
