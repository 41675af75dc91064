import type { Write } from '../../agent.ts'
import { line } from '../../kit/decoded.ts'
import type { Fields } from '../../kit/fields.ts'

/** Null is a valid id: JSON-RPC uses it in errors about a request whose id could not be read. */
export type RpcId = string | number | null

/** A pending request of ours, which determines how its response is decoded. */
export interface AcpCall {
  method: string
  params: Fields
}

export function requestMessage(id: RpcId, method: string, params: Fields): Fields {
  return { jsonrpc: '2.0', id, method, params }
}

export function notificationMessage(method: string, params: Fields): Fields {
  return { jsonrpc: '2.0', method, params }
}

export function resultMessage(id: RpcId, result: Fields): Fields {
  return { jsonrpc: '2.0', id, result }
}

/** An unsupported request must be answered with an error: without one the agent would wait forever. */
export function methodNotFound(id: unknown, method: string): Write {
  const error = { code: -32601, message: `Method not found: ${method}` }
  return line({ jsonrpc: '2.0', id, error })
}

export function isRpcId(id: unknown): id is RpcId {
  return typeof id === 'string' || typeof id === 'number' || id === null
}
