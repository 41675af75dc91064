import type { Socket } from 'node:net'
import type { WebSocket } from '@fastify/websocket'
import type { StreamTiming } from './event-stream.ts'
import type { Notices } from './notices.ts'

/** The reason for closing a socket: a code for programs, a text for people. */
export interface SocketEnd {
  code: number
  reason: string
}

/** Closing reasons for every socket. Codes from 4000 on are application-defined. */
export const SOCKET_ENDS = {
  ended: { code: 1000, reason: 'ended' },
  stopping: { code: 1001, reason: 'the server is stopping' },
  broken: { code: 1011, reason: 'the server failed' },
  slow: { code: 1013, reason: 'too slow; reconnect with your cursor' },
  revoked: { code: 4401, reason: 'the token was removed' },
  ungranted: { code: 4403, reason: 'the grant was removed' },
  deleted: { code: 4404, reason: 'the session was deleted' },
} as const satisfies Record<string, SocketEnd>

/** Bytes that may be buffered for a client before writes wait. */
const HIGH_WATER = 64 * 1024

/** Time for the closing handshake of a client that is cut off; its stream counts towards the quota until then. */
const CLOSE_MS = 1_000

/** A message of UTF-8 bytes is a text to the client, as a string is. */
const AS_TEXT = { binary: false }

/** A WebSocket written with backpressure. */
export class SocketStream {
  readonly #socket: WebSocket
  readonly #connection: Socket
  readonly #timing: StreamTiming
  readonly #gone = new AbortController()
  readonly #stopping: AbortSignal
  readonly #keepalive: NodeJS.Timeout
  /** The time of the ping that has no pong yet. */
  #pinged: number | undefined

  /** `connection` is what the socket writes to. */
  constructor(
    socket: WebSocket,
    connection: Socket,
    timing: StreamTiming,
    stopping: AbortSignal,
    notices?: Notices,
  ) {
    this.#socket = socket
    this.#connection = connection
    this.#timing = timing
    this.#stopping = stopping
    this.#keepalive = setTimeout(() => this.#ping(), timing.keepaliveMs)
    socket.once('close', () => {
      clearTimeout(this.#keepalive)
      this.#gone.abort()
    })
    const silence = notices?.((text) => socket.readyState === socket.OPEN && socket.send(text))
    if (silence) socket.once('close', silence)
    socket.on('pong', () => {
      this.#pinged = undefined
    })
  }

  /** Aborts when the client has disconnected or the server stops. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.#gone.signal, this.#stopping])
  }

  get stopping(): boolean {
    return this.#stopping.aborted && !this.#gone.signal.aborted
  }

  /** Sends one message each. Settles when more may be sent, or when the client has disconnected. */
  async sendAll(messages: Iterable<string | Uint8Array>): Promise<void> {
    // Corked, because a system call for each message costs more than everything else about it.
    this.#connection.cork()
    try {
      for (const message of messages) {
        if (this.#socket.readyState !== this.#socket.OPEN) return
        if (this.#socket.bufferedAmount + message.length <= HIGH_WATER) this.#socket.send(message, AS_TEXT)
        else {
          this.#connection.uncork()
          await this.#flush(message)
          this.#connection.cork()
        }
      }
      this.#keepalive.refresh()
    } finally {
      this.#connection.uncork()
    }
  }

  /** Only the first close counts. */
  close({ code, reason }: SocketEnd): void {
    clearTimeout(this.#keepalive)
    this.#socket.close(code, reason)
  }

  /** Closes without waiting for the client, which may never read the last frame. */
  cutOff(end: SocketEnd): void {
    this.close(end)
    this.#gone.abort()
    const terminate = setTimeout(() => this.#socket.terminate(), CLOSE_MS)
    this.#socket.once('close', () => clearTimeout(terminate))
  }

  /** Disconnects a client that reads nothing for too long: the unsent messages stay in the log. */
  #flush(message: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(stalled)
        this.#gone.signal.removeEventListener('abort', done)
        resolve()
      }
      const stalled = setTimeout(() => this.cutOff(SOCKET_ENDS.slow), this.#timing.stallMs)
      this.#gone.signal.addEventListener('abort', done)
      this.#socket.send(message, AS_TEXT, done)
    })
  }

  /** Only a ping detects a dead peer of a silent socket. */
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
