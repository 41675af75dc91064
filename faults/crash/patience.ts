import { setTimeout as sleep } from 'node:timers/promises'

/** Something did not happen in time. */
export class Stuck extends Error {}

/** Waits for one thing after another, for none of them longer than `ms`. */
export class Patience {
  /** Where the program is, for people: a round of a trial. */
  place = ''
  readonly #ms: number
  readonly #details: () => readonly string[]

  /** `details` says what else is known when something did not happen in time. */
  constructor(ms: number, details: () => readonly string[]) {
    this.#ms = ms
    this.#details = details
  }

  async for<T>(what: string, awaited: Promise<T>): Promise<T> {
    const over = new AbortController()
    const late = sleep(this.#ms, undefined, over).then(() => {
      const waited = `${this.place}: waited ${this.#ms / 1000} s for ${what}`
      throw new Stuck([waited, ...this.#details()].join('\n  '))
    })
    try {
      return await Promise.race([awaited, late])
    } finally {
      over.abort()
    }
  }
}
