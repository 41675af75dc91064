import { Rest } from './rest.ts'
import { sseMessages } from './sse-messages.ts'
import type { Cursor, Delivery } from './transport.ts'

/** Receives messages as server-sent events. Uses `fetch`, because an `EventSource` cannot send a token. */
export class SseTransport extends Rest {
  override async *connect(
    session: string,
    from: Cursor,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Delivery[]> {
    const query = new URLSearchParams({ dialect: this.dialect })
    const response = await this.connection.open(
      `GET /v1/sessions/${encodeURIComponent(session)}/events?${query}`,
      {
        headers: {
          accept: 'text/event-stream',
          ...(from.id !== undefined && { 'last-event-id': from.id }),
        },
        signal,
      },
    )
    // A cursor of another transport may have no id. Then the stream starts at the first message; skip the known ones.
    let skip = from.id === undefined ? from.count : 0
    let { count } = from
    for await (const messages of sseMessages(response, signal)) {
      const fresh = messages.slice(skip)
      skip -= messages.length - fresh.length
      if (fresh.length > 0) {
        yield fresh.map(({ data, id }) => ({
          text: data,
          cursor: { count: ++count, ...(id !== undefined && { id }) },
        }))
      }
    }
  }
}
