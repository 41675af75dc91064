import type { Writable } from 'node:stream'

/** Prints at the speed of its reader, and takes it calmly when the reader goes away, as `| head` does. */
export class Printer {
  readonly #output: Writable
  readonly #closed = new AbortController()

  constructor(output: Writable) {
    this.#output = output
    // The write itself reports what went wrong; without a listener the process would die of it.
    output.on('error', () => this.#closed.abort())
  }

  /** Fires when nobody reads any more. */
  get closed(): AbortSignal {
    return this.#closed.signal
  }

  print(text: string): Promise<void> {
    if (text === '' || this.closed.aborted) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#output.write(text, (error) => (error && !isClosedPipe(error) ? reject(error) : resolve()))
    })
  }
}

function isClosedPipe(error: Error): boolean {
  return 'code' in error && error.code === 'EPIPE'
}
