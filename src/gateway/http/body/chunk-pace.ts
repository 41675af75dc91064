import { setTimeout as sleep } from 'node:timers/promises'

/** Chunks of one client in each millisecond. Parsing one takes about a microsecond, whatever its size. */
const PER_MS = 32
/** Chunks without a wait, after a pause. */
const BURST = 2_048
/** Charged for going on, so that waiting bodies of one client go on one after the other. */
const ADMISSION = 256
/** Clients that are remembered before those without a debt are forgotten. */
const MAX_CLIENTS = 1_024

/**
 * Limits the chunks of one client, in all of its bodies together. A body of single bytes costs the parser as much for
 * each byte as another one for 64 KB, and nobody else is served while a packet of such chunks is parsed.
 */
export class ChunkPace {
  /** When the chunks so far have taken their time, by client. */
  readonly #paidAt = new Map<string, number>()
  readonly #now: () => number
  readonly #sleep: (ms: number) => Promise<unknown>

  constructor(now = () => performance.now(), wait: (ms: number) => Promise<unknown> = sleep) {
    this.#now = now
    this.#sleep = wait
  }

  /** Counts chunks. Returns whether their client must wait before the next one. */
  arrived(client: string, chunks: number): boolean {
    this.#charge(client, chunks)
    return this.#owedMs(client) > 0
  }

  /** Settles when the client may send more. */
  async wait(client: string): Promise<void> {
    for (let owed = this.#owedMs(client); owed > 0; owed = this.#owedMs(client)) await this.#sleep(owed)
    this.#charge(client, ADMISSION)
  }

  #owedMs(client: string): number {
    const paidAt = this.#paidAt.get(client)
    return paidAt === undefined ? 0 : Math.ceil(paidAt - this.#now())
  }

  #charge(client: string, chunks: number): void {
    const rested = this.#now() - BURST / PER_MS
    const paidAt = this.#paidAt.get(client)
    if (paidAt === undefined && this.#paidAt.size >= MAX_CLIENTS) this.#forget(rested)
    this.#paidAt.set(client, Math.max(paidAt ?? rested, rested) + chunks / PER_MS)
  }

  #forget(rested: number): void {
    for (const [client, paidAt] of this.#paidAt) if (paidAt <= rested) this.#paidAt.delete(client)
  }
}
