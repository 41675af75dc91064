import { least } from './least.ts'

/** Long enough for garbage to be collected several times, short enough to find the machine undisturbed. */
const WINDOW = 250_000

/**
 * Processor time a frame, in the window of a stream that was disturbed least: a machine that is shared is quiet for
 * half a second more often than for a whole measurement.
 */
export class Stopwatch {
  readonly #micros: number[] = []
  #from = process.cpuUsage()
  #frames = 0
  #begun = 0

  /** Adds processed frames. */
  count(frames: number): void {
    this.#frames += frames
    if (this.#frames - this.#begun >= WINDOW) this.#close()
  }

  /** The end of the stream, which has one window at least. */
  stop(): { micros: number; frames: number } {
    if (this.#micros.length === 0) this.#close()
    return { micros: least(this.#micros), frames: this.#frames }
  }

  #close(): void {
    const { user, system } = process.cpuUsage(this.#from)
    this.#micros.push((user + system) / (this.#frames - this.#begun))
    this.#from = process.cpuUsage()
    this.#begun = this.#frames
  }
}
