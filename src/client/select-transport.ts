import { FallbackTransport } from './fallback-transport.ts'
import { HttpTransport } from './http-transport.ts'
import type { HttpOptions } from './rest.ts'
import { SseTransport } from './sse-transport.ts'
import type { Transport } from './transport.ts'
import { WebSocketTransport } from './websocket-transport.ts'

/** The best way to a server that works from here: a WebSocket, server-sent events, or polling. */
export function selectTransport(options: HttpOptions = {}): Transport {
  const others = [new SseTransport(options), new HttpTransport(options)] as const
  if (!('WebSocket' in globalThis)) return new FallbackTransport(...others)
  return new FallbackTransport(new WebSocketTransport(options), ...others)
}
