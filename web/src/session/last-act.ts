/**
 * When the person last acted, by the clock of the keyboard and the pointer: a busy page handles a key long after it was
 * pressed.
 */
export class LastAct {
  /** Times of the last press of each key, for keyboards that repeat without saying so. */
  readonly #pressed = new Map<string, number>()
  /** The time of the last key or click. */
  at = Number.NEGATIVE_INFINITY
  /** How long the last pressed key had been quiet; 0 for a key that is held down. */
  quietFor = Number.POSITIVE_INFINITY

  begin(): void {
    addEventListener('keydown', this.#onKeyDown, { capture: true })
    addEventListener('keyup', this.#onKeyUp, { capture: true })
    addEventListener('click', this.#onClick, { capture: true })
  }

  finish(): void {
    removeEventListener('keydown', this.#onKeyDown, { capture: true })
    removeEventListener('keyup', this.#onKeyUp, { capture: true })
    removeEventListener('click', this.#onClick, { capture: true })
  }

  readonly #onKeyDown = ({ key, repeat, timeStamp }: KeyboardEvent): void => {
    this.quietFor = repeat ? 0 : timeStamp - (this.#pressed.get(key) ?? Number.NEGATIVE_INFINITY)
    this.#pressed.set(key, timeStamp)
    this.at = timeStamp
  }

  readonly #onKeyUp = (): void => {
    this.quietFor = Number.POSITIVE_INFINITY
  }

  readonly #onClick = ({ timeStamp }: MouseEvent): void => {
    this.at = timeStamp
  }
}
