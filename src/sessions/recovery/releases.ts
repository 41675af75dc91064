/** Sessions whose leases are being released. Work on such a session must wait, because it would run without a lease. */
export class Releases {
  readonly #underway = new Map<string, Promise<void>>()

  /** `release` ends the lease of this session, or keeps it for the caller. */
  run(session: string, release: () => Promise<void>): Promise<void> {
    const released = release().finally(() => this.#underway.delete(session))
    this.#underway.set(session, released)
    return released
  }

  /** Settles when the lease of this session can be used. */
  async settled(session: string): Promise<void> {
    await this.#underway.get(session)?.catch(() => undefined)
  }

  /** Settles when none is underway. */
  async all(): Promise<void> {
    await Promise.allSettled(this.#underway.values())
  }
}
