import type { SessionRecord } from '../../model/index.ts'
import { allRecords } from '../../reading/session-logs.ts'
import type { Store, TrimPoint } from '../../stores/store.ts'
import type { Clock, SessionDeps } from '../deps.ts'
import type { Ownership } from './ownership.ts'

/**
 * The time that retention measures ages with: the system clock when the process started, plus the time that passed
 * since. If the system clock jumps ahead while the server runs, nothing is removed early; if it is set back, data is
 * kept longer.
 */
class RetentionClock {
  readonly #clock: Clock
  readonly #start: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#start = clock.now() - clock.monotonic()
  }

  now(): number {
    return Math.min(this.#clock.now(), this.#start + this.#clock.monotonic())
  }

  /** How far the system clock has jumped ahead. */
  lead(): number {
    return this.#clock.now() - this.now()
  }
}

/** Retention limits. They apply to ended sessions only; without a limit, data is kept. */
export interface Retention {
  /** Deletes sessions that ended longer ago. */
  sessionsMs?: number | undefined
  /** Keeps this many of the newest entries. */
  entries?: number | undefined
  /** Deletes the raw frames of sessions that ended longer ago. */
  journalMs?: number | undefined
  /** Deletes older rows of the audit trail. */
  auditMs?: number | undefined
  /** How long idempotency keys are kept after their use. */
  receiptsMs: number
}

interface Excess {
  id: string
  /** Where to trim the session; undefined deletes all of it. */
  point: TrimPoint | undefined
}

/** Deletes data beyond the retention limits. */
export class Pruner {
  readonly #store: Store
  readonly #clock: RetentionClock
  readonly #ownership: Ownership
  readonly #remove: (id: string) => Promise<void>

  /** `remove` deletes a session. */
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
    const { auditMs } = retention
    // A store may measure with the system clock.
    if (auditMs !== undefined) await this.#store.access.forgetAudit(auditMs + this.#clock.lead())
    const { owner } = this.#ownership.terms
    const now = await this.#now()
    for (const { id, point } of await excessIn(this.#store, retention, now, owner)) {
      if (!point) await this.#remove(id)
      else await this.#ownership.write(id, (fence) => this.#store.trim(id, point, fence))
      this.#ownership.forget(id)
    }
  }

  /** The earlier of two clocks, so that a server whose clock is wrong does not delete the sessions of the others. */
  async #now(): Promise<number> {
    const now = this.#clock.now()
    return Math.min(now, (await this.#store.nodes?.time?.()) ?? now)
  }
}

/**
 * Lists data beyond the limits, in sessions that this owner may acquire. Collected before anything is deleted, because
 * deleting shifts the pages.
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
