import type { SessionRecord } from '../model/index.ts'
import type { Store, TrimPoint } from '../stores/store.ts'
import type { SessionDeps } from './deps.ts'
import type { Ownership } from './ownership.ts'
import { allRecords } from './recovery.ts'
import { RetentionClock } from './retention-clock.ts'

/** How long what is kept. Only sessions that have ended lose anything; what is not said is kept for ever. */
export interface Retention {
  /** A session that ended longer ago is removed whole. */
  sessionsMs?: number | undefined
  /** So many of the newest entries of a session that ended. */
  entries?: number | undefined
  /** The raw frames of a session that ended longer ago are removed. */
  journalMs?: number | undefined
  /** For how long a key is known after its use. */
  receiptsMs: number
}

interface Excess {
  id: string
  /** What is dropped of it; nothing of the session is left where there is none. */
  point: TrimPoint | undefined
}

/** Removes what is kept longer than it has to be. */
export class Pruner {
  readonly #store: Store
  readonly #clock: RetentionClock
  readonly #ownership: Ownership
  readonly #remove: (id: string) => Promise<void>

  /** `remove` deletes a whole session. */
  constructor(
    { store, clock }: Pick<SessionDeps, 'store' | 'clock'>,
    ownership: Ownership,
    remove: (id: string) => Promise<void>,
  ) {
    this.#store = store
    this.#clock = new RetentionClock(clock)
    this.#ownership = ownership
    this.#remove = remove
  }

  async prune(retention: Retention): Promise<void> {
    await this.#store.forgetReceipts(retention.receiptsMs)
    const { owner } = this.#ownership.terms
    for (const { id, point } of await excessIn(this.#store, retention, this.#clock.now(), owner)) {
      if (!point) await this.#remove(id)
      else await this.#ownership.write(id, (fence) => this.#store.trim(id, point, fence))
      this.#ownership.forget(id)
    }
  }
}

/**
 * What is kept longer than it has to be, in sessions that this owner may acquire. Found before anything is removed,
 * because removing moves the pages.
 */
async function excessIn(
  store: Store,
  retention: Retention,
  now: number,
  acquirableBy: string,
): Promise<Excess[]> {
  const { sessionsMs, entries, journalMs } = retention
  if (sessionsMs === undefined && entries === undefined && journalMs === undefined) return []
  const found: Excess[] = []
  for await (const record of allRecords(store, { status: 'ended', acquirableBy })) {
    const { id, updatedAt } = record
    if (sessionsMs !== undefined && updatedAt < now - sessionsMs) found.push({ id, point: undefined })
    else {
      const point = trimPointOf(record, retention, now)
      if (point.seq !== undefined || point.frame !== undefined) found.push({ id, point })
    }
  }
  return found
}

function trimPointOf(record: SessionRecord, { entries, journalMs }: Retention, now: number): TrimPoint {
  const { head, updatedAt, frames, earliest = 1, earliestFrame = 1 } = record
  const seq = entries === undefined ? earliest : head - entries + 1
  const isOld = journalMs !== undefined && updatedAt < now - journalMs
  return {
    ...(seq > earliest && { seq }),
    ...(isOld && earliestFrame <= frames && { frame: frames + 1 }),
  }
}
