import { existsSync } from 'node:fs'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type Entry, type ErrorCode, isDamaged, MainstemError } from '../../../model/index.ts'
import { IndexSchedule, matchesIn } from '../../search.ts'
import type { Store, TextMatches, TextQuery } from '../../store.ts'
import type { IndexMatches, IndexQuery } from './indexer.ts'
import type { EntryPlace } from './log-rows.ts'

interface WaitingSearch {
  resolve(matches: IndexMatches): void
  reject(error: MainstemError): void
}

/** The search thread, seen from here. It is started when it is needed, and again if it fails. */
export class SearchChannel {
  readonly #settings: SearchSettings
  readonly #asked = new Map<number, WaitingSearch>()
  readonly #schedule = new IndexSchedule(() => this.#post({ kind: 'changed' }))
  #worker: Worker | undefined
  #gone: Promise<void> = Promise.resolve()
  #asks = 0
  #closed = false

  constructor(settings: SearchSettings) {
    this.#settings = settings
  }

  /** Rows were added to the logs. */
  changed(): void {
    this.#schedule.changed()
  }

  /** Rows of this session were removed from the logs. */
  removed(session: number): void {
    // Without an index there is nothing to remove from.
    if (this.#worker || existsSync(this.#settings.index)) this.#post({ kind: 'removed', session })
  }

  find(query: IndexQuery): Promise<IndexMatches> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new MainstemError('storage_failed', 'the store is closed'))
      const ask = ++this.#asks
      this.#asked.set(ask, { resolve, reject })
      this.#post({ kind: 'find', ask, query })
      // Only a question that waits keeps the process alive.
      this.#worker?.ref()
    })
  }

  /** The thread is waited for, so that its files are free when this settles. */
  async close(): Promise<void> {
    this.#closed = true
    this.#schedule[Symbol.dispose]()
    if (this.#worker) {
      this.#worker.ref()
      this.#worker.postMessage({ kind: 'close' } satisfies ToSearch)
    }
    await this.#gone
  }

  #post(message: ToSearch): void {
    if (this.#closed) return
    this.#worker ??= this.#start()
    this.#worker.postMessage(message)
  }

  #start(): Worker {
    // The same file beside this one, compiled or not.
    const script = new URL(`./search-thread${extname(import.meta.url)}`, import.meta.url)
    const worker = new Worker(script, { workerData: this.#settings })
    worker.unref()
    worker.on('message', (answer: FromSearch) => this.#answer(answer))
    let why = 'its thread has ended'
    worker.on('error', (thrown) => {
      why = String(thrown)
    })
    this.#gone = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#worker = undefined
        for (const { reject } of this.#asked.values())
          reject(new MainstemError('storage_failed', `cannot search the store: ${why}`))
        this.#asked.clear()
        resolve()
      })
    })
    return worker
  }

  #answer(answer: FromSearch): void {
    const asked = this.#asked.get(answer.ask)
    this.#asked.delete(answer.ask)
    if (this.#asked.size === 0) this.#worker?.unref()
    if ('matches' in answer) {
      asked?.resolve(answer.matches)
    } else {
      const { code, message, details } = answer.failure
      asked?.reject(new MainstemError(code, message, details))
    }
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
  | { kind: 'find'; ask: number; query: IndexQuery }
  /** Rows were added to the logs. */
  | { kind: 'changed' }
  /** Rows of this session were removed from the logs. */
  | { kind: 'removed'; session: number }
  | { kind: 'close' }

/** The answer to a `find`. */
export type FromSearch = { ask: number } & (
  | { matches: IndexMatches }
  | { failure: { code: ErrorCode; message: string; details: Record<string, unknown> | undefined } }
)

/** The time limit for a search to index entries that an older version wrote. */
const WAIT_MS = 1_000

/** Looks up entries in the index, and reads them from the logs. */
export async function searchLogs(
  index: Pick<SearchChannel, 'find'>,
  store: Pick<Store, 'read'>,
  { principal, terms, limit }: TextQuery,
): Promise<TextMatches> {
  const entries: Entry[] = []
  for (let below: number | undefined; ; ) {
    const rest = limit - entries.length
    const question = { principal, terms, limit: rest, waitMs: WAIT_MS, ...(below !== undefined && { below }) }
    const found = await index.find(question)
    for (const place of found.places) entries.push(...matchesIn(await readAt(store, place), terms))
    if (found.places.length < rest || entries.length >= limit)
      return { entries, isComplete: found.isComplete }
    below = found.below
  }
}

/** Undefined if the entry was removed meanwhile or is damaged, so that the other matches can be read. */
async function readAt(store: Pick<Store, 'read'>, { session, seq }: EntryPlace): Promise<readonly Entry[]> {
  try {
    return await store.read(session, seq - 1, 1)
  } catch (thrown) {
    const isRemoved = thrown instanceof MainstemError && thrown.code === 'cursor_gone'
    if (isRemoved || isDamaged(thrown, session)) return []
    throw thrown
  }
}
