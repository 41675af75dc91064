import { OpenTime } from '../leases.ts'
import { integer } from '../row.ts'
import type { Database } from './database.ts'

/** The interval at which servers synchronise this time. */
const COMPARE_MS = 5_000

/**
 * How far the time of one server can be ahead of the time that another one stamped on a key: each of them may have
 * compared it this long ago. Keys are kept that much longer.
 */
export const MARGIN_MS = 2 * COMPARE_MS

const COMPARE = 'UPDATE @open_time SET ms = greatest(ms, $1::float8) RETURNING ms'

/**
 * How long servers had the store open, in milliseconds: the age of an idempotency key is measured in it, because no system
 * clock can be trusted with that. Each server counts by its own monotonic clock, and all of them follow the one that is
 * furthest.
 */
export class SharedTime implements Disposable {
  readonly #database: Database
  readonly #monotonic: (() => number) | undefined
  readonly #timer: NodeJS.Timeout
  #time: OpenTime

  private constructor(database: Database, last: number, monotonic: (() => number) | undefined) {
    this.#database = database
    this.#monotonic = monotonic
    this.#time = new OpenTime(last, monotonic)
    this.#timer = setInterval(() => this.#compare(), COMPARE_MS).unref()
  }

  static async start(database: Database, monotonic?: () => number): Promise<SharedTime> {
    return new SharedTime(database, await furthest(database, 0), monotonic)
  }

  now(): number {
    return this.#time.now()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  async #compare(): Promise<void> {
    // Without the database no key is written either, so synchronising can wait for its return.
    const ms = await furthest(this.#database, this.now()).catch(() => 0)
    if (ms > this.now()) this.#time = new OpenTime(ms, this.#monotonic)
  }
}

async function furthest(database: Database, ms: number): Promise<number> {
  const { rows } = await database.write(COMPARE, [ms])
  return integer(rows[0] ?? {}, 'ms')
}
