import type { SessionDeps } from '../deps.ts'

/** The timers of a session: its idle process, the stage of its process, the limits of its turn, and its continuation. */
type Alarm = 'idle' | 'stage' | 'turn' | 'silence' | 'report' | 'continuation'

/** The sleep of a timer that rings. */
interface Slept {
  ms: number
  /**
   * This process was suspended meanwhile. It read no output then, and its agents may have been suspended too, so that
   * time does not count against them.
   */
  wasSuspended: boolean
}

/** A sleep that took so much longer means that this process did not run: stopped, frozen, or on a sleeping machine. */
const SUSPENDED_MS = 5_000

/** The armed timers of a session, by name. Each rings once, unless it is disarmed or armed again before. */
export class Alarms {
  readonly #deps: Pick<SessionDeps, 'timers' | 'clock'>
  readonly #armed = new Map<Alarm, AbortController>()

  constructor(deps: Pick<SessionDeps, 'timers' | 'clock'>) {
    this.#deps = deps
  }

  arm(name: Alarm, ms: number, ring: (slept: Slept) => void): void {
    this.disarm(name)
    const { timers, clock } = this.#deps
    const armed = new AbortController()
    this.#armed.set(name, armed)
    const before = clock.monotonic()
    void timers.sleep(ms, armed.signal).then(() => {
      if (armed.signal.aborted) return
      const slept = clock.monotonic() - before
      ring({ ms: slept, wasSuspended: slept - ms >= SUSPENDED_MS })
    })
  }

  disarmAll(): void {
    this.disarm(...this.#armed.keys())
  }

  disarm(...names: readonly Alarm[]): void {
    for (const name of names) this.#armed.get(name)?.abort()
  }
}
