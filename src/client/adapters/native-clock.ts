import { fieldOf } from '../rest.ts'

/**
 * The time of native lines: their own timestamp where they have one, the clock where they have none. Durations are
 * measured by one of the two alone, so that an old recording does not mix with the present.
 */
export class NativeClock {
  readonly #now: () => number
  #at: number | undefined
  #isRecorded: boolean | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** Takes the time of the line that is read next. */
  hear(line: unknown): void {
    this.#at = timestampOf(line) ?? this.#at
    this.#isRecorded ??= this.#at !== undefined
  }

  /** When the current line was written. */
  at(): number {
    return this.#at ?? this.#now()
  }

  /** For durations. */
  elapsed(): number {
    return this.#isRecorded ? this.at() : this.#now()
  }
}

/** Every agent that dates its lines calls the field so: ISO 8601, or milliseconds since 1970. */
function timestampOf(line: unknown): number | undefined {
  const told = fieldOf(line, 'timestamp')
  const at = typeof told === 'string' ? Date.parse(told) : told
  return typeof at === 'number' && Number.isFinite(at) ? at : undefined
}
