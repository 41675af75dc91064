/** Null is a valid id: JSON-RPC uses it in errors about a request whose id could not be read. */
export type RpcId = string | number | null

export interface RpcError {
  /** Absent when the peer sent no code. */
  readonly code?: number
  readonly message: string
  readonly data?: unknown
}

export type RpcMessage =
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'result'; readonly id: RpcId; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: RpcId; readonly error: RpcError }
  /** `id` is the id to use in an error response to this message. */
  | { readonly kind: 'invalid'; readonly id: RpcId; readonly reason: string }

/**
 * Classifies a parsed message, with or without the `jsonrpc` field. Tests for the presence of `id`, never its value,
 * because ids start at 0. A call with id null counts as a request: an extra response does no harm, while a missing one
 * blocks the peer.
 */
export function readRpc(value: unknown): RpcMessage {
  if (!isObject(value)) return invalid(null, 'not an object')
  const id = value.id
  if (id !== undefined && !isRpcId(id)) return invalid(null, 'id is neither string, number nor null')
  if (value.jsonrpc !== undefined && value.jsonrpc !== '2.0') return invalid(id, 'jsonrpc is not 2.0')
  // Older implementations send both `result` and `error` and set the unused one to null.
  const hasError = value.error !== undefined && value.error !== null
  const hasResult = value.result !== undefined && !(hasError && value.result === null)
  if (value.method !== undefined) {
    if (typeof value.method !== 'string') return invalid(id, 'method is not a string')
    if (hasResult || hasError) return invalid(id, 'both a call and a response')
    if (id === undefined) return { kind: 'notification', method: value.method, params: value.params }
    return { kind: 'request', id, method: value.method, params: value.params }
  }
  if (hasResult === hasError)
    return invalid(id, hasError ? 'both result and error' : 'neither call nor response')
  if (id === undefined) return invalid(id, 'a response without an id')
  if (hasError) return { kind: 'error', id, error: readError(value.error) }
  return { kind: 'result', id, result: value.result }
}

function invalid(id: RpcId | undefined, reason: string): RpcMessage {
  return { kind: 'invalid', id: id ?? null, reason }
}

/** Rejects batches: no supported agent sends them. */
function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isRpcId(id: unknown): id is RpcId {
  return typeof id === 'string' || typeof id === 'number' || id === null
}

/** Accepts malformed errors, because the caller that awaits the response must be notified in any case. */
function readError(error: unknown): RpcError {
  const { code, message, data } = isObject(error) ? error : {}
  const hasMessage = typeof message === 'string'
  return {
    ...(typeof code === 'number' && { code }),
    message: hasMessage ? message : typeof error === 'string' ? error : 'an error without a message',
    ...(data !== undefined ? { data } : !hasMessage && { data: error }),
  }
}

function rpcWriter(tag: { readonly jsonrpc?: '2.0' }) {
  return {
    request: (id: RpcId, method: string, params?: unknown) => ({
      ...tag,
      id,
      method,
      ...(params !== undefined && { params }),
    }),
    notification: (method: string, params?: unknown) => ({
      ...tag,
      method,
      ...(params !== undefined && { params }),
    }),
    // JSON cannot encode undefined; without the null the message would have no result and not be a valid response.
    result: (id: RpcId, result: unknown) => ({ ...tag, id, result: result ?? null }),
    error: (id: RpcId, error: RpcError & { readonly code: number }) => ({ ...tag, id, error }),
  }
}

/** Builds messages that conform to JSON-RPC 2.0. */
export const rpc = rpcWriter({ jsonrpc: '2.0' })

/** Builds messages without the `jsonrpc` field, for agents that omit it. */
export const bareRpc = rpcWriter({})
