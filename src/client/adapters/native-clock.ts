import { fieldOf } from '../rest.ts'

/**
 * The time of native lines: their own timestamp, or the clock if they have none. Durations use only one of the two, so
 * that the times of an old recording are not mixed with the present.
 */
export class NativeClock {
  readonly #now: () => number
  #at: number | undefined
  #isRecorded: boolean | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** Sets the current line. */
  advance(line: unknown): void {
    this.#at = timestampOf(line) ?? this.#at
    this.#isRecorded ??= this.#at !== undefined
  }

  /** The time of the current line. */
  at(): number {
    return this.#at ?? this.#now()
  }

  /** A time for durations. */
  elapsed(): number {
    return this.#isRecorded ? this.at() : this.#now()
  }
}

/** The `timestamp` of a line: ISO 8601, or milliseconds since 1970. */
function timestampOf(line: unknown): number | undefined {
  const told = fieldOf(line, 'timestamp')
  const at = typeof told === 'string' ? Date.parse(told) : told
  return typeof at === 'number' && Number.isFinite(at) ? at : undefined
}
