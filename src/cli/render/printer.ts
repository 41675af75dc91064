import type { Writable } from 'node:stream'

/** Prints with backpressure, and tolerates a reader that closes the pipe, as `| head` does. */
export class Printer {
  readonly #output: Writable
  readonly #closed = new AbortController()

  constructor(output: Writable) {
    this.#output = output
    // The write reports the error; without a listener the process would crash.
    output.on('error', () => this.#closed.abort())
  }

  /** Aborts when the reader has closed the pipe. */
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
