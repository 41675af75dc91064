import { applyEntry, type Entry, newTimeline, type SessionRecord, type Timeline } from 'mainstem/client'
import { client, leftOut } from '../app/client.ts'
import { Store } from '../app/store.ts'

/** Entries that say what a session is doing, besides those that change the list. */
export const ACTIVITY_TYPES = ['tool.started', 'tool.completed', 'limit.reported'] as const

/** Entries that are read of a session that runs when the page opens. */
const TAIL = 60

/** Sessions that are read then; of the others, the next entries tell. */
const MOST = 20

/** The turn of each running session, as far as the stream of all sessions tells it. */
export class Activities extends Store<ReadonlyMap<string, Timeline>> {
  constructor() {
    super(new Map())
  }

  /** Adds entries of any sessions. */
  note(entries: readonly Entry[]): void {
    const now = new Map(this.get())
    for (const entry of entries) {
      const { session } = entry
      if (entry.event.type === 'turn.completed' || entry.event.type === 'session.ended') now.delete(session)
      else if (entry.turn !== undefined) now.set(session, applied(now.get(session), entry))
    }
    this.set(now)
  }

  /** Reads the last entries of sessions that run already. */
  async read(records: readonly SessionRecord[]): Promise<void> {
    const unknown = records.filter(({ id, status }) => status === 'busy' && !this.get().has(id))
    await Promise.all(unknown.slice(0, MOST).map((record) => this.#readTail(record)))
  }

  async #readTail({ id, head }: SessionRecord): Promise<void> {
    try {
      const { entries = [] } = await client.page(id, { after: Math.max(0, head - TAIL), limit: TAIL })
      const timeline = newTimeline()
      for (const entry of entries) applyEntry(timeline, entry)
      if (timeline.running || this.get().has(id))
        return this.set(new Map([...this.get()].concat([[id, timeline]])))
      // The turn began before these entries.
      const { at: startedAt = 0, turn } = entries.at(-1) ?? {}
      if (turn !== undefined) timeline.running = { turn, startedAt, tokens: 0 }
      this.set(new Map([...this.get(), [id, timeline]]))
    } catch (thrown) {
      // What a session is doing is an extra: its record says that it runs.
      leftOut(thrown)
    }
  }
}

/** A copy for each change, so that a row renders again. */
function applied(known: Timeline | undefined, entry: Entry): Timeline {
  const timeline = known ? { ...known } : newTimeline()
  applyEntry(timeline, entry)
  timeline.running ??= { turn: entry.turn ?? 0, startedAt: entry.at, tokens: 0 }
  return timeline
}

export const activities = new Activities()
