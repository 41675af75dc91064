import type { EntriesOptions } from './mainstem-types.ts'
import type { ClientConnection, HttpResponse } from './transports/connection.ts'
import { sseMessages } from './transports/sse-messages.ts'

/** What is reported of a stream's connection. */
interface StreamWatch {
  onConnection: EntriesOptions['onConnection']
  onOpen(response: HttpResponse): void
}

/** Opens a stream of events, and reads its messages as items until it ends. */
export async function* itemStream<Item>(
  connection: ClientConnection,
  path: string,
  itemOf: (text: string) => Item,
  signal: AbortSignal,
  { onConnection, onOpen }: StreamWatch,
): AsyncGenerator<readonly Item[]> {
  onConnection?.('connecting')
  const headers = { accept: 'text/event-stream' }
  const response = await connection.open(`GET ${path}`, { headers, signal })
  onOpen(response)
  try {
    for await (const messages of sseMessages(response, signal))
      yield messages.filter(({ data }) => data !== '').map(({ data }) => itemOf(data))
  } finally {
    onConnection?.('closed')
  }
}
