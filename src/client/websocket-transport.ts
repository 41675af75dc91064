import { MainstemError } from '../model/mainstem-error.ts'
import { Inbox } from './inbox.ts'
import { fieldOf, type HttpOptions, Rest } from './rest.ts'
import type { Cursor, Delivery } from './transport.ts'

export interface WebSocketOptions extends HttpOptions {
  /** Messages that may wait for a slow reader before the socket is left for the log; 1,000 unless it is said. */
  maxWaiting?: number
}

/** The server ended the stream because there is no more of it: the session is done, failed or cancelled. */
const ENDS: ReadonlySet<number> = new Set([1000, 4001, 4002])

/** A WebSocket: everything so far at once, and then what happens. */
export class WebSocketTransport extends Rest {
  readonly #maxWaiting: number

  constructor({ maxWaiting = 1_000, ...options }: WebSocketOptions = {}) {
    super(options)
    this.#maxWaiting = maxWaiting
  }

  override async *connect(
    session: string,
    from: Cursor,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Delivery[]> {
    const query = new URLSearchParams({ dialect: this.dialect, ...(await this.#ticket(signal)) })
    signal.throwIfAborted()
    const path = `/ws/sessions/${encodeURIComponent(session)}?${query}`
    const socket = new WebSocket(this.connection.socketUrl(path))
    const inbox = this.#inboxOf(socket, from)
    const leave = () => inbox.fail(signal.reason)
    signal.addEventListener('abort', leave)
    try {
      yield* inbox.batches()
    } finally {
      signal.removeEventListener('abort', leave)
      socket.close()
    }
  }

  #inboxOf(socket: WebSocket, from: Cursor): Inbox<Delivery> {
    const inbox = new Inbox<Delivery>()
    let count = 0
    socket.addEventListener('message', ({ data }) => {
      count++
      // Every connection begins at the first message.
      if (count <= from.count) return
      inbox.push({ text: String(data), cursor: { count } })
      // A socket cannot be slowed down; the rest is read from the log by the next connection.
      if (inbox.size < this.#maxWaiting) return
      inbox.fail(new MainstemError('connection_failed', 'the reader is slower than the socket'))
      socket.close()
    })
    socket.addEventListener('close', ({ code, reason }) => {
      if (ENDS.has(code)) inbox.end()
      else inbox.fail(new MainstemError('connection_failed', `the socket was closed with ${code} ${reason}`))
    })
    return inbox
  }

  /** A socket of a browser has no headers, and a token never belongs in a URL. */
  async #ticket(signal: AbortSignal): Promise<{ ticket?: string }> {
    if (!this.connection.hasToken) return {}
    const ticket = fieldOf(await this.connection.json('POST /v1/tickets', { signal }), 'ticket')
    return typeof ticket === 'string' ? { ticket } : {}
  }
}
