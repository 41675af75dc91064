/** Null is an id as well: it stands in errors that answer no readable request. */
export type RpcId = string | number | null

export interface RpcError {
  /** Absent when the other side gave none. */
  readonly code?: number
  readonly message: string
  readonly data?: unknown
}

export type RpcMessage =
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'result'; readonly id: RpcId; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: RpcId; readonly error: RpcError }
  /** `id` is what an error about it has to be addressed to. */
  | { readonly kind: 'invalid'; readonly id: RpcId; readonly reason: string }

/**
 * Tells what a parsed message is, whether or not it carries `jsonrpc`. The presence of `id` decides, never its
 * value: ids start at 0. A request with the id null is a request, since one answer too many harms nobody and one
 * that never comes leaves the other side waiting.
 */
export function readRpc(value: unknown): RpcMessage {
  if (!isObject(value)) return invalid(null, 'not an object')
  const id = value.id
  if (id !== undefined && !isRpcId(id)) return invalid(null, 'id is neither string, number nor null')
  if (value.jsonrpc !== undefined && value.jsonrpc !== '2.0') return invalid(id, 'jsonrpc is not 2.0')
  // Older implementations write the absent one of result and error as null.
  const hasError = value.error !== undefined && value.error !== null
  const hasResult = value.result !== undefined && !(hasError && value.result === null)
  if (value.method !== undefined) {
    if (typeof value.method !== 'string') return invalid(id, 'method is not a string')
    if (hasResult || hasError) return invalid(id, 'both a call and an answer')
    if (id === undefined) return { kind: 'notification', method: value.method, params: value.params }
    return { kind: 'request', id, method: value.method, params: value.params }
  }
  if (hasResult === hasError)
    return invalid(id, hasError ? 'both result and error' : 'neither call nor answer')
  if (id === undefined) return invalid(id, 'an answer without id')
  if (hasError) return { kind: 'error', id, error: readError(value.error) }
  return { kind: 'result', id, result: value.result }
}

function invalid(id: RpcId | undefined, reason: string): RpcMessage {
  return { kind: 'invalid', id: id ?? null, reason }
}

/** A batch is no message: no agent writes one. */
function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isRpcId(id: unknown): id is RpcId {
  return typeof id === 'string' || typeof id === 'number' || id === null
}

/** An answer has come, however odd its error is: whoever waits for it must be told. */
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
    // JSON has no undefined: without the null the answer would have no result, and be none.
    result: (id: RpcId, result: unknown) => ({ ...tag, id, result: result ?? null }),
    error: (id: RpcId, error: RpcError & { readonly code: number }) => ({ ...tag, id, error }),
  }
}

/** Builds messages by the letter of JSON-RPC 2.0. */
export const rpc = rpcWriter({ jsonrpc: '2.0' })

/** Builds them without the `jsonrpc` field, for agents that leave it out. */
export const bareRpc = rpcWriter({})
