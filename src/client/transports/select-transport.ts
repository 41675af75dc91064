import type { AgentType } from '../config.ts'
import type { HttpOptions } from '../rest.ts'
import { FallbackTransport } from './fallback-transport.ts'
import { HttpTransport } from './http-transport.ts'
import { SseTransport } from './sse-transport.ts'
import type { Transport } from './transport.ts'
import { WebSocketTransport } from './websocket-transport.ts'

/**
 * Selects the first transport that connects: WebSocket, server-sent events, or polling. The agent does not matter,
 * because a server runs every agent; the parameter is part of the protocol.
 */
export function selectTransport(agentType: AgentType, options?: HttpOptions): Transport
export function selectTransport(options?: HttpOptions): Transport
export function selectTransport(first: AgentType | HttpOptions = {}, second: HttpOptions = {}): Transport {
  const options = typeof first === 'string' ? second : first
  const others = [new SseTransport(options), new HttpTransport(options)] as const
  if (!('WebSocket' in globalThis)) return new FallbackTransport(...others)
  return new FallbackTransport(new WebSocketTransport(options), ...others)
}
