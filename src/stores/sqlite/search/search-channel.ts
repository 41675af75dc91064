import { existsSync } from 'node:fs'
import { extname } from 'node:path'
import type { Entry } from '../../../model/index.ts'
import { storeClosed } from '../../refusals.ts'
import { IndexSchedule, readableMatches } from '../../search.ts'
import type { SearchLag, Store, TextMatches, TextQuery } from '../../store.ts'
import { ThreadChannel } from '../thread-channel.ts'
import type { IndexMatches, IndexQuery } from './indexer.ts'

/** The search thread, seen from here. It is started when it is needed, and again if it fails. */
export class SearchChannel {
  readonly #settings: SearchSettings
  /** Told of rows that were added to the logs. */
  readonly schedule = new IndexSchedule(() => this.#thread()?.tell({ kind: 'changed' }))
  #started: ThreadChannel<ToSearch, FromSearch> | undefined
  #closed = false

  constructor(settings: SearchSettings) {
    this.#settings = settings
  }

  /** Rows of this session were removed from the logs. */
  removed(session: number): void {
    // Without an index there is nothing to remove from.
    const isIndexed = this.#started?.hasEnded === false || existsSync(this.#settings.index)
    if (isIndexed) this.#thread()?.tell({ kind: 'removed', session })
  }

  async find(query: IndexQuery): Promise<IndexMatches> {
    const answer = await this.#ask({ kind: 'find', query })
    if (!('places' in answer)) throw new TypeError('the search thread has not answered the search')
    return answer
  }

  async lag(): Promise<SearchLag> {
    const answer = await this.#ask({ kind: 'lag' })
    if (!('backlog' in answer)) throw new TypeError('the search thread has not answered how far it is')
    return answer
  }

  /** The thread is waited for, so that its files are free when this settles. */
  async close(): Promise<void> {
    this.#closed = true
    this.schedule[Symbol.dispose]()
    await this.#started?.close({ kind: 'close' })
  }

  #ask(message: ToSearch): Promise<FromSearch> {
    const thread = this.#thread()
    if (!thread) throw storeClosed()
    return thread.ask(message)
  }

  #thread() {
    if (this.#closed) return undefined
    if (!this.#started || this.#started.hasEnded) {
      // The same file beside this one, compiled or not.
      const script = new URL(`./search-thread${extname(import.meta.url)}`, import.meta.url)
      this.#started = new ThreadChannel(script, this.#settings, 'cannot search the store')
    }
    return this.#started
  }
}

/** The start parameters of the search thread. */
export interface SearchSettings {
  /** The database of the logs. */
  database: string
  /** The database of the index. */
  index: string
}

export type ToSearch =
  | { kind: 'find'; query: IndexQuery }
  | { kind: 'lag' }
  /** The last message. */
  | { kind: 'close' }
  /** Rows were added to the logs. */
  | { kind: 'changed' }
  /** Rows of this session were removed from the logs. */
  | { kind: 'removed'; session: number }

type FromSearch = IndexMatches | SearchLag

/** The time limit for a search to index entries. */
const WAIT_MS = 1_000

/** Looks up entries in the index, and reads them from the logs. */
export async function searchLogs(
  index: Pick<SearchChannel, 'find'>,
  store: Pick<Store, 'read'>,
  { principal, terms, limit }: TextQuery,
): Promise<TextMatches> {
  const entries: Entry[] = []
  const until = performance.now() + WAIT_MS
  let isComplete = true
  for (let below: number | undefined; ; ) {
    const rest = limit - entries.length
    const waitMs = Math.max(0, until - performance.now())
    const found = await index.find({
      principal,
      terms,
      limit: rest,
      waitMs,
      ...(below !== undefined && { below }),
    })
    isComplete &&= found.isComplete
    for (const { session, seq } of found.places)
      entries.push(...(await readableMatches(session, terms, () => store.read(session, seq - 1, 1))))
    if (found.places.length < rest || entries.length >= limit) return { entries, isComplete }
    below = found.below
  }
}
