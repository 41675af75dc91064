import type { AgentType } from './config.ts'
import { FallbackTransport } from './fallback-transport.ts'
import { HttpTransport } from './http-transport.ts'
import type { HttpOptions } from './rest.ts'
import { SseTransport } from './sse-transport.ts'
import type { Transport } from './transport.ts'
import { WebSocketTransport } from './websocket-transport.ts'

/**
 * The best way to a server that works from here: a WebSocket, server-sent events, or polling. The server runs every
 * agent, so which one is meant may be said and does not matter.
 */
export function selectTransport(agentType: AgentType, options?: HttpOptions): Transport
export function selectTransport(options?: HttpOptions): Transport
export function selectTransport(first: AgentType | HttpOptions = {}, second: HttpOptions = {}): Transport {
  const options = typeof first === 'string' ? second : first
  const others = [new SseTransport(options), new HttpTransport(options)] as const
  if (!('WebSocket' in globalThis)) return new FallbackTransport(...others)
  return new FallbackTransport(new WebSocketTransport(options), ...others)
}
