import type { Timers } from '../../drivers/driver.ts'
import { MainstemError, toMainstemError } from '../../model/index.ts'
import type { FIRST_FENCE, LeaseTerms, Store } from '../../stores/store.ts'
import type { Clock } from '../deps.ts'

/** The owner is the same after a restart, so a restarted server need not wait for its own leases. */
const LOCAL_OWNER = 'local'

/**
 * The lease terms of a server that names none. A store without `nodes` has one process, so its leases never expire: no
 * other process could acquire a session while this one is suspended.
 */
export function localTerms({ nodes }: Pick<Store, 'nodes'>): LeaseTerms {
  return { owner: LOCAL_OWNER, ttlMs: nodes ? 30_000 : Number.POSITIVE_INFINITY }
}

/** Processes are stopped this long before the leases can end. Stopping an agent takes ten seconds at most. */
const STOP_MS = 12_000

/** Renewals per lease duration. */
const RENEWALS = 5

/** The fence of a session that this server creates. */
export const CREATED_FENCE: typeof FIRST_FENCE = 1

export interface OwnershipDeps {
  store: Store
  clock: Clock
  /** Sleeps that do not keep the program running. */
  background: Timers
  terms: LeaseTerms
  /** Called with the time left until the agents must end. */
  extended?: ((leftMs: number) => void) | undefined
}

export interface LeaseState {
  /** Sessions that this server has leased. */
  held: number
  ttlMs: number
  /** The time until the agents of this server must end if no renewal succeeds. */
  leftMs: number
}

/**
 * The leases of this server. They are renewed together. If that fails for too long, `lost` is called early enough to
 * stop every agent before another server can acquire a session: by the monotonic clock of this process, counted from
 * the moment the last successful renewal was sent.
 */
export class Ownership {
  readonly terms: LeaseTerms
  readonly #deps: OwnershipDeps
  readonly #lost: (error: MainstemError) => void
  readonly #fences = new Map<string, Promise<number>>()
  readonly #stop = new AbortController()
  #deadline = Number.NEGATIVE_INFINITY
  #asked = Number.NEGATIVE_INFINITY
  #isLost = false
  #isRenewing = false
  #hasLoop = false

  constructor(deps: OwnershipDeps, lost: (error: MainstemError) => void) {
    this.#deps = deps
    this.terms = deps.terms
    this.#lost = lost
  }

  /** Returns the fence of a session, and leases the session first if necessary. */
  acquire(session: string): Promise<number> {
    const known = this.#fences.get(session)
    if (known) return known
    const acquired = this.#lease(session)
    this.#fences.set(session, acquired)
    acquired.catch(() => this.#forgetOnly(session, acquired))
    return acquired
  }

  /** A lease that took the store longer than this server may use it is asked for again. */
  async #lease(session: string): Promise<number> {
    const { owner, ttlMs } = this.terms
    for (;;) {
      const asked = this.#now()
      const { fence } = await this.#deps.store.acquire(session, owner, ttlMs)
      if (this.#extended(asked)) return fence
    }
  }

  /** Leases a session again, so that every write with the previous fence is refused. */
  reacquire(session: string): Promise<number> {
    this.forget(session)
    return this.acquire(session)
  }

  /** The current time, for `created`. */
  get moment(): number {
    return this.#now()
  }

  /**
   * Registers a session that was created with a lease. `asked` is a time before its creation. Returns false if the
   * creation took so long that the lease may have ended.
   */
  created(session: string, asked: number): boolean {
    this.#fences.set(session, Promise.resolve(CREATED_FENCE))
    return this.#extended(asked)
  }

  /** False if the lease was lost or released. */
  holds(session: string): boolean {
    return this.#fences.has(session)
  }

  /** For metrics. A server that has leased nothing yet has nothing to renew. */
  get state(): LeaseState {
    const leftMs = this.#deadline - this.#now()
    return {
      held: this.#fences.size,
      ttlMs: this.terms.ttlMs,
      leftMs: leftMs === Number.NEGATIVE_INFINITY ? Number.POSITIVE_INFINITY : Math.max(0, leftMs),
    }
  }

  /** No other server can have acquired a session of this one, by the clock. */
  get isCurrent(): boolean {
    return this.#deps.clock.monotonic() < this.#deadline
  }

  /** Writes to a session with its fence. If the lease was lost, the next write acquires a new one. */
  async write<T>(session: string, write: (fence: number) => Promise<T>): Promise<T> {
    const acquired = this.acquire(session)
    try {
      return await write(await acquired)
    } catch (thrown) {
      if (toMainstemError(thrown).code === 'fenced') this.#forgetOnly(session, acquired)
      throw thrown
    }
  }

  /** Call when a session has ended, was deleted or was lost. */
  forget(session: string): void {
    this.#fences.delete(session)
  }

  /** Keeps the leases, which the next process of this server has as well. */
  pause(): void {
    this.#stop.abort()
  }

  /** Ends all leases, so that another server can acquire the sessions at once. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.#fences.clear()
    await this.#deps.store.release(this.terms.owner)
  }

  #forgetOnly(session: string, acquired: Promise<number>): void {
    if (this.#fences.get(session) === acquired) this.#fences.delete(session)
  }

  #now(): number {
    return this.#deps.clock.monotonic()
  }

  /** Returns false if this was asked for so long ago that agents would have to end already. */
  #extended(asked: number): boolean {
    this.#deadline = Math.max(
      this.#deadline,
      asked + this.terms.ttlMs - Math.min(STOP_MS, this.terms.ttlMs / 2),
    )
    const leftMs = this.#deadline - this.#now()
    if (leftMs > 0) this.#isLost = false
    if (leftMs > 0) this.#deps.extended?.(leftMs)
    if (!this.#hasLoop && !this.#stop.signal.aborted && Number.isFinite(this.#deadline)) {
      this.#hasLoop = true
      this.#asked = asked
      void this.#keep()
    }
    return leftMs > 0
  }

  /** Wakes for each renewal and for the deadline. Never waits for the store. */
  async #keep(): Promise<void> {
    const { signal } = this.#stop
    const everyMs = this.terms.ttlMs / RENEWALS
    while (!signal.aborted) {
      const next = this.#asked + everyMs
      const wake = this.#isLost ? next : Math.min(next, this.#deadline)
      await this.#deps.background.sleep(Math.max(0, wake - this.#now()), signal)
      if (signal.aborted) return
      if (!this.#isLost && this.#now() >= this.#deadline) this.lose(leaseLost())
      if (this.#now() >= this.#asked + everyMs) this.#renew()
    }
  }

  /** Gives up every lease at once. */
  lose(error: MainstemError): void {
    this.#isLost = true
    this.#fences.clear()
    this.#lost(error)
  }

  #renew(): void {
    const asked = this.#now()
    this.#asked = asked
    if (this.#isRenewing) return
    this.#isRenewing = true
    const { owner, ttlMs } = this.terms
    const renewed = this.#deps.store.renew(owner, ttlMs)
    // The next renewal retries. The deadline stays.
    void renewed
      .then(() => this.#extended(asked))
      .catch(() => undefined)
      .finally(() => {
        this.#isRenewing = false
      })
  }
}

export function leaseLost(): MainstemError {
  return new MainstemError('fenced', 'this server could not renew its leases in time')
}
