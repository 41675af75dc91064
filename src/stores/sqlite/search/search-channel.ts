import { existsSync } from 'node:fs'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { MainstemError } from '../../../model/index.ts'
import type { IndexMatches, IndexQuery } from './indexer.ts'
import type { FromSearch, SearchSettings, ToSearch } from './search-message.ts'

/** The thread starts this long after the store was opened, or with the first search: many processes never search. */
const START_MS = 1_000
/** New entries are indexed this long after the first of them, many at a time. */
const GATHER_MS = 250

interface Asked {
  resolve(matches: IndexMatches): void
  reject(error: MainstemError): void
}

/** The search thread, seen from here. It is started when it is needed, and again if it fails. */
export class SearchChannel {
  readonly #settings: SearchSettings
  readonly #asked = new Map<number, Asked>()
  #worker: Worker | undefined
  #gone: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #asks = 0
  #closed = false

  constructor(settings: SearchSettings) {
    this.#settings = settings
    this.#later(START_MS)
  }

  /** Rows were added to the logs. */
  changed(): void {
    if (this.#worker && !this.#timer) this.#later(GATHER_MS)
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
    clearTimeout(this.#timer)
    if (this.#worker) {
      this.#worker.ref()
      this.#worker.postMessage({ kind: 'close' } satisfies ToSearch)
    }
    await this.#gone
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#post({ kind: 'changed' })
    }, ms).unref()
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
