import type { ServerResponse } from 'node:http'
import type { StreamFormat } from './format.ts'

export interface StreamTiming {
  /** Silence after which a comment shows that we are still there. */
  keepaliveMs: number
  /** A reader that takes nothing for this long is let go; it can come back with its last id. */
  stallMs: number
}

/** A response that stays open, written only as fast as the reader takes it. */
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
  ) {
    this.#response = response
    this.#stallMs = timing.stallMs
    this.#steady = format.steady ?? false
    // A reader that left while its run was being prepared is never told of again.
    if (response.destroyed) this.#gone.abort()
    response.once('close', () => this.#gone.abort())
    response.on('error', () => this.#gone.abort())
    response.writeHead(200, {
      'content-type': format.type,
      'cache-control': 'no-cache, no-store, no-transform',
      // A stream is the last thing on its connection: nothing idle is left behind it.
      connection: 'close',
      // Some proxies gather a response before they pass it on.
      'x-accel-buffering': 'no',
      ...headers,
    })
    response.flushHeaders()
    this.#keepalive = setTimeout(() => {
      if (!response.writableNeedDrain) response.write(format.keepalive)
      this.#keepalive.refresh()
    }, timing.keepaliveMs)
  }

  /** Fires when the reader is gone. */
  get signal(): AbortSignal {
    return this.#gone.signal
  }

  /** Settles when more may be written, or when the reader is gone. */
  async write(text: string | Uint8Array): Promise<void> {
    if (this.#gone.signal.aborted) return
    if (!this.#steady) this.#keepalive.refresh()
    if (!this.#response.write(text)) await this.#drained()
  }

  end(): void {
    clearTimeout(this.#keepalive)
    this.#response.end()
  }

  /** Cuts the stream off in the middle, so that nobody takes it for whole. */
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
