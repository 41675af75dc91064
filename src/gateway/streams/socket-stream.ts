import type { WebSocket } from '@fastify/websocket'
import type { StreamTiming } from './event-stream.ts'

/** Why a socket is closed: a code for programs, a word for people. */
export interface SocketEnd {
  code: number
  reason: string
}

/** What ends a socket whatever is read on it. Codes from 4000 on are our own. */
export const SOCKET_ENDS = {
  ended: { code: 1000, reason: 'ended' },
  stopping: { code: 1001, reason: 'the server is stopping' },
  broken: { code: 1011, reason: 'the server failed' },
  slow: { code: 1013, reason: 'too slow; come back with your cursor' },
  revoked: { code: 4401, reason: 'the token was removed' },
  deleted: { code: 4404, reason: 'the session was deleted' },
} as const satisfies Record<string, SocketEnd>

/** In bytes: what may wait for a reader before it is waited for. */
const HIGH_WATER = 64 * 1024

/** How long a reader that is cut off has for the closing handshake; until then it keeps its place. */
const CLOSE_MS = 1_000

/** A WebSocket that is written only as fast as its reader takes it. */
export class SocketStream {
  readonly #socket: WebSocket
  readonly #timing: StreamTiming
  readonly #gone = new AbortController()
  readonly #stopping: AbortSignal
  readonly #keepalive: NodeJS.Timeout
  /** When the ping was sent that has no answer yet. */
  #pinged: number | undefined

  constructor(socket: WebSocket, timing: StreamTiming, stopping: AbortSignal) {
    this.#socket = socket
    this.#timing = timing
    this.#stopping = stopping
    this.#keepalive = setTimeout(() => this.#ping(), timing.keepaliveMs)
    socket.once('close', () => {
      clearTimeout(this.#keepalive)
      this.#gone.abort()
    })
    socket.on('pong', () => {
      this.#pinged = undefined
    })
  }

  /** Fires when there is nobody to write to, or the server stops. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#gone.signal, this.#stopping])
  }

  get stopping(): boolean {
    return this.#stopping.aborted && !this.#gone.signal.aborted
  }

  /** Settles when more may be sent, or when the reader is gone. */
  async send(text: string): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#keepalive.refresh()
    if (this.#socket.bufferedAmount + text.length <= HIGH_WATER) this.#socket.send(text)
    else await this.#flush(text)
  }

  /** The first end is the one that counts. */
  close({ code, reason }: SocketEnd): void {
    clearTimeout(this.#keepalive)
    this.#socket.close(code, reason)
  }

  /** Closes without waiting for the reader, which may never take the last frame. */
  cutOff(end: SocketEnd): void {
    this.close(end)
    this.#gone.abort()
    const terminate = setTimeout(() => this.#socket.terminate(), CLOSE_MS)
    this.#socket.once('close', () => clearTimeout(terminate))
  }

  /** A reader that takes nothing for too long is let go: what it was not sent is in the log. */
  #flush(text: string): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(stalled)
        this.#gone.signal.removeEventListener('abort', done)
        resolve()
      }
      const stalled = setTimeout(() => this.cutOff(SOCKET_ENDS.slow), this.#timing.stallMs)
      this.#gone.signal.addEventListener('abort', done)
      this.#socket.send(text, done)
    })
  }

  /** Only a ping shows that the other end of a silent socket is still there. */
  #ping(): void {
    const now = performance.now()
    if (this.#pinged !== undefined && now - this.#pinged >= this.#timing.stallMs) {
      this.#socket.terminate()
      return
    }
    if (this.#pinged === undefined) {
      this.#pinged = now
      this.#socket.ping()
    }
    this.#keepalive.refresh()
  }
}
