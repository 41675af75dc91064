import type { EventSourceMessage } from 'eventsource-parser'
import type { ConnectionState, EntriesOptions } from './mainstem-types.ts'
import type { ServerNotice } from './server-types.ts'
import { shaped } from './shaped.ts'
import type { ClientConnection, HttpResponse } from './transports/connection.ts'
import { sseMessages } from './transports/sse-messages.ts'

const NOTICES: ReadonlySet<string> = new Set<ServerNotice['type']>(['server.degraded', 'server.recovered'])

/** Reports what happens to a stream besides its items, over all of its connections. */
export class StreamWatch {
  readonly #options: Pick<EntriesOptions, 'onConnection' | 'onNotice'>
  readonly #opened: (response: HttpResponse) => void
  #isDegraded = false

  constructor(
    options: Pick<EntriesOptions, 'onConnection' | 'onNotice'>,
    opened: (response: HttpResponse) => void = () => undefined,
  ) {
    this.#options = options
    this.#opened = opened
  }

  /** The parameter that asks for notices. */
  get flag(): '1' | undefined {
    return this.#options.onNotice && '1'
  }

  connection(state: Exclude<ConnectionState, 'open'>): void {
    this.#options.onConnection?.(state)
  }

  opened(response: HttpResponse): void {
    this.#opened(response)
    // A server that is still degraded says so again on the new connection.
    if (this.#isDegraded) this.#notify({ type: 'server.recovered' })
    this.#options.onConnection?.('open')
  }

  /** Returns whether the message is one of the server itself, and no item. */
  takes({ event, data }: EventSourceMessage): boolean {
    if (event === undefined || !NOTICES.has(event)) return false
    this.#notify(shaped<ServerNotice>(JSON.parse(data), 'type'))
    return true
  }

  #notify(notice: ServerNotice): void {
    this.#isDegraded = notice.type === 'server.degraded'
    this.#options.onNotice?.(notice)
  }
}

/** Opens a stream of events, and reads its messages as items until it ends. */
export async function* itemStream<Item>(
  connection: ClientConnection,
  path: string,
  itemOf: (text: string) => Item,
  signal: AbortSignal,
  watch: StreamWatch,
): AsyncGenerator<readonly Item[]> {
  watch.connection('connecting')
  const headers = { accept: 'text/event-stream' }
  const response = await connection.open(`GET ${path}`, { headers, signal })
  watch.opened(response)
  try {
    for await (const messages of sseMessages(response, signal))
      yield messages
        .filter((message) => message.data !== '' && !watch.takes(message))
        .map(({ data }) => itemOf(data))
  } finally {
    watch.connection('closed')
  }
}
