import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { LONGEST } from '../bounded-text.ts'
import { fieldOf, type HttpOptions, queryAfter, Rest } from '../rest.ts'
import { MessageQueue } from './message-queue.ts'
import type { Cursor, Delivery } from './transport.ts'

/** Options of a `WebSocketTransport`. */
export interface WebSocketOptions extends HttpOptions {
  /** The most messages in memory for a slow consumer; 1,000 by default. Above it, the transport reconnects and replays. */
  maxWaiting?: number
}

/** The first message of a server that starts after the cursor. No dialect has such a message. */
const CONFIRMATION = '{"resumed":true}'

/** Close codes of a complete stream: the session is done, failed or cancelled. */
const ENDS: ReadonlySet<number> = new Set([1000, 4001, 4002])

/** Receives messages over a WebSocket: those after the cursor, then new ones. */
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
    const query = new URLSearchParams({
      ...this.view,
      ...(from.count > 0 && { ...queryAfter(from), confirm: '1' }),
      ...(await this.#ticket(signal)),
    })
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
    let isFirst = from.count > 0
    /** The characters in the queue. */
    let waiting = 0
    socket.addEventListener('message', ({ data }) => {
      // Other servers ignore the cursor, confirm nothing and start with the first message.
      const isConfirmed = isFirst && data === CONFIRMATION
      isFirst = false
      if (isConfirmed) count = from.count
      if (isConfirmed || ++count <= from.count) return
      if (queue.size === 0) waiting = 0
      const text = String(data)
      queue.push({ text, cursor: { count } })
      waiting += text.length
      // A WebSocket has no backpressure. The next connection replays the rest.
      if (queue.size < this.#maxWaiting && waiting < LONGEST) return
      queue.fail(new MainstemError('connection_failed', 'the consumer is slower than the WebSocket'))
      socket.close()
    })
    socket.addEventListener('close', ({ code, reason }) => {
      if (ENDS.has(code)) queue.end()
      else queue.fail(closedError(code, reason))
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

/** A server whose log of the session cannot be written closes the socket with that error code as the reason. */
function closedError(code: number, reason: string): MainstemError {
  const message = `the WebSocket was closed with code ${code} ${reason}`
  return reason === 'storage_failed'
    ? new MainstemError(reason, message, { unwritable: true })
    : new MainstemError('connection_failed', message)
}
