import type { ServerResponse } from 'node:http'
import type { StreamFormat } from './format.ts'
import type { Notices } from './notices.ts'

export interface StreamTiming {
  /** Interval of keepalive comments on a silent stream. */
  keepaliveMs: number
  /** A client that reads nothing for this long is disconnected; it can resume with its last id. */
  stallMs: number
}

/** A long-lived response, written with backpressure. */
export class EventStream {
  readonly #response: ServerResponse
  readonly #stallMs: number
  readonly #gone = new AbortController()
  readonly #keepalive: NodeJS.Timeout
  readonly #steady: boolean

  constructor(
    response: ServerResponse,
    format: StreamFormat,
    headers: Readonly<Record<string, string>>,
    timing: StreamTiming,
    notices?: Notices,
  ) {
    this.#response = response
    this.#stallMs = timing.stallMs
    this.#steady = format.steady ?? false
    // `close` is not emitted again for a client that disconnected while its run was prepared.
    if (response.destroyed) this.#gone.abort()
    response.once('close', () => this.#gone.abort())
    response.on('error', () => this.#gone.abort())
    response.writeHead(200, {
      'content-type': format.type,
      'cache-control': 'no-cache, no-store, no-transform',
      // Closes the connection after the stream, so that no idle connection remains.
      connection: 'close',
      // Disables response buffering in proxies.
      'x-accel-buffering': 'no',
      ...headers,
    })
    response.flushHeaders()
    this.#keepalive = setTimeout(() => {
      if (!response.writableNeedDrain) response.write(format.keepalive)
      this.#keepalive.refresh()
    }, timing.keepaliveMs)
    // Between two writes, which are whole messages each.
    const silence = notices?.((text) => response.writable && response.write(text))
    if (silence) response.once('close', silence)
  }

  /** Aborts when the client has disconnected. */
  get signal(): AbortSignal {
    return this.#gone.signal
  }

  /** Settles when more may be written, or when the client has disconnected. */
  async write(text: string | Uint8Array): Promise<void> {
    if (this.#gone.signal.aborted) return
    if (!this.#steady) this.#keepalive.refresh()
    if (!this.#response.write(text)) await this.#drained()
  }

  end(): void {
    clearTimeout(this.#keepalive)
    this.#response.end()
  }

  /** Breaks the connection without an end marker, so that the client does not treat the stream as complete. */
  breakOff(): void {
    clearTimeout(this.#keepalive)
    this.#response.destroy()
  }

  #drained(): Promise<void> {
    const response = this.#response
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(stalled)
        response.off('drain', done)
        this.#gone.signal.removeEventListener('abort', done)
        resolve()
      }
      const stalled = setTimeout(() => response.destroy(), this.#stallMs)
      response.on('drain', done)
      this.#gone.signal.addEventListener('abort', done)
    })
  }
}
