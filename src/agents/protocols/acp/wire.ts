import type { RpcId } from '../../../framing/json-rpc.ts'
import type { Write } from '../../agent.ts'
import { line } from '../../decoded.ts'
import type { Fields } from '../../fields.ts'

/** A request of ours on its way; what its answer means depends on it. */
export interface Sent {
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

/** An agent that asks for what we do not offer must hear so: one that is left waiting stalls its turn for ever. */
export function methodNotFound(id: unknown, method: string): Write {
  const error = { code: -32601, message: `Method not found: ${method}` }
  return line({ jsonrpc: '2.0', id, error })
}

/** Null is an id too: it stands in errors that answer no readable request. */
export function isRpcId(id: unknown): id is RpcId {
  return typeof id === 'string' || typeof id === 'number' || id === null
}
