import type { Clock } from '../deps.ts'

/**
 * The time that retention measures ages with: the system clock when the process started, plus the time that passed
 * since. If the system clock jumps ahead while the server runs, nothing is removed early; if it is set back, data is
 * kept longer.
 */
export class RetentionClock {
  readonly #clock: Clock
  readonly #start: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#start = clock.now() - clock.monotonic()
  }

  now(): number {
    return Math.min(this.#clock.now(), this.#start + this.#clock.monotonic())
  }
}
