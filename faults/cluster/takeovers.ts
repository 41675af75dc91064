import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const SAMPLE_MS = 200

/** Sessions with open work whose lease is not valid. */
const LEFT_ALONE = `SELECT s.id FROM mainstem.session s JOIN mainstem.record r ON r.session = s.n
  WHERE r.status <> 'ended'
  AND (r.status = 'busy' OR r.asking OR EXISTS (SELECT FROM mainstem.queued q WHERE q.session = s.n))
  AND NOT EXISTS (SELECT FROM mainstem.owner o WHERE o.id = s.owner
    AND o.until > extract(epoch FROM clock_timestamp())::float8 * 1000)`

/** Measures how long sessions wait for a new owner, once the lease of the old one has ended. */
export class Takeovers {
  /** Milliseconds of each wait that has ended. */
  readonly waits: number[] = []
  readonly #url: string
  readonly #isSound: () => boolean
  readonly #stop = new AbortController()
  readonly #since = new Map<string, number>()
  readonly #running: Promise<void>

  /** `isSound` is asked whether any node could take sessions over now; the time before that does not count. */
  constructor(url: string, isSound: () => boolean) {
    this.#url = url
    this.#isSound = isSound
    this.#running = this.#watch()
  }

  /** The longest wait that has not ended. */
  get longestOpen(): number {
    return Math.max(0, ...[...this.#since.values()].map((since) => performance.now() - since))
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const client = new pg.Client({ connectionString: this.#url, query_timeout: 5_000 })
      client.on('error', () => undefined)
      try {
        await client.connect()
        while (!signal.aborted) {
          await this.#sample(client)
          await sleep(SAMPLE_MS)
        }
      } catch {
        // The database is down: every wait begins again when it is back.
        this.#since.clear()
        await sleep(SAMPLE_MS)
      } finally {
        await client.end().catch(() => undefined)
      }
    }
  }

  async #sample(client: pg.Client): Promise<void> {
    const { rows } = await client.query(LEFT_ALONE)
    const now = performance.now()
    const alone = new Set(rows.map(({ id }) => String(id)))
    for (const [id, since] of this.#since) {
      if (alone.has(id)) continue
      this.waits.push(now - since)
      this.#since.delete(id)
    }
    for (const id of alone) if (!this.#isSound() || !this.#since.has(id)) this.#since.set(id, now)
  }
}
