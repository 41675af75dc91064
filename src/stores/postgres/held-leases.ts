/** The proof that a session was leased to an owner at a time of this process. */
export interface LeaseProof {
  owner: string
  at: number
}

/**
 * The leases that this process can rely on: while one is valid, no other server can write to the session. Measured by
 * the clock of this process from when a lease was asked for, so it ends here before it ends in the database.
 */
export class HeldLeases {
  readonly #clock: () => number
  /** For each owner, the time in which its leases have not expired. */
  readonly #held = new Map<string, { since: number; until: number }>()

  constructor(clock: () => number) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock()
  }

  /** A lease that was asked for at `asked` has been granted. Leases that had expired meanwhile may be others' now. */
  extend(owner: string, ttlMs: number, asked: number): void {
    const now = this.now()
    const held = this.#held.get(owner)
    const until = asked + ttlMs
    if (held && now < held.until) held.until = Math.max(held.until, until)
    else this.#held.set(owner, { since: now, until })
  }

  /** Call before the leases end in the database. */
  end(owner: string): void {
    this.#held.delete(owner)
  }

  /** Whether a session with this proof is still leased to its owner. */
  covers({ owner, at }: LeaseProof): boolean {
    const held = this.#held.get(owner)
    return held !== undefined && at >= held.since && this.now() < held.until
  }
}
