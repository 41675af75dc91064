import { MainstemError } from '../model/mainstem-error.ts'
import { MessageQueue } from './message-queue.ts'
import { fieldOf, type HttpOptions, Rest } from './rest.ts'
import type { Cursor, Delivery } from './transport.ts'

/** Options of a `WebSocketTransport`. */
export interface WebSocketOptions extends HttpOptions {
  /** The most messages in memory for a slow consumer; 1,000 by default. Above it, the transport reconnects and replays. */
  maxWaiting?: number
}

/** Close codes of a complete stream: the session is done, failed or cancelled. */
const ENDS: ReadonlySet<number> = new Set([1000, 4001, 4002])

/** Receives messages over a WebSocket. Each connection replays the session, then streams new messages. */
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
    const queue = this.#queueOf(socket, from)
    const leave = () => queue.fail(signal.reason)
    signal.addEventListener('abort', leave)
    try {
      yield* queue.batches()
    } finally {
      signal.removeEventListener('abort', leave)
      socket.close()
    }
  }

  #queueOf(socket: WebSocket, from: Cursor): MessageQueue<Delivery> {
    const queue = new MessageQueue<Delivery>()
    let count = 0
    socket.addEventListener('message', ({ data }) => {
      count++
      // Every connection starts with the first message.
      if (count <= from.count) return
      queue.push({ text: String(data), cursor: { count } })
      // A WebSocket has no backpressure. The next connection replays the rest.
      if (queue.size < this.#maxWaiting) return
      queue.fail(new MainstemError('connection_failed', 'the consumer is slower than the WebSocket'))
      socket.close()
    })
    socket.addEventListener('close', ({ code, reason }) => {
      if (ENDS.has(code)) queue.end()
      else
        queue.fail(
          new MainstemError('connection_failed', `the WebSocket was closed with code ${code} ${reason}`),
        )
    })
    return queue
  }

  /** Gets a ticket, because a WebSocket of a browser cannot send headers and a token must not be in a URL. */
  async #ticket(signal: AbortSignal): Promise<{ ticket?: string }> {
    if (!this.connection.hasToken) return {}
    const ticket = fieldOf(await this.connection.json('POST /v1/tickets', { signal }), 'ticket')
    return typeof ticket === 'string' ? { ticket } : {}
  }
}
