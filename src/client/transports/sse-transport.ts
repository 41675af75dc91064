import { queryAfter, Rest } from '../rest.ts'
import { sseMessages } from './sse-messages.ts'
import type { Cursor, Delivery } from './transport.ts'

/** Receives messages as server-sent events. Uses `fetch`, because an `EventSource` cannot send a token. */
export class SseTransport extends Rest {
  override async *connect(
    session: string,
    from: Cursor,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Delivery[]> {
    const query = new URLSearchParams({ ...this.view, ...queryAfter(from) })
    const response = await this.connection.open(
      `GET /v1/sessions/${encodeURIComponent(session)}/events?${query}`,
      { headers: { accept: 'text/event-stream' }, signal },
    )
    let { count } = from
    for await (const messages of sseMessages(response, signal))
      yield messages.map(({ data, id }) => ({
        text: data,
        cursor: { count: ++count, ...(id !== undefined && { id }) },
      }))
  }
}
