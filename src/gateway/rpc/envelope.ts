import * as z from 'zod'
import { RequestResolved } from '../../model/events/request.ts'
import { ErrorCode, jsonRpcCode } from '../../model/index.ts'
import { named } from '../http/openapi/components.ts'
import type { Problem } from '../http/problem.ts'
import { answeredWith } from '../http/request-scope.ts'

const Id = z.union([z.string(), z.number(), z.null()])
type Id = z.infer<typeof Id>

/** Clients may omit `jsonrpc` and `id`; they get a response in any case. */
export const RpcRequest = named(
  'RpcRequest',
  z.object({
    jsonrpc: z.literal('2.0').optional(),
    id: Id.optional(),
    method: z.string().min(1),
    params: z.unknown().optional().describe('an object with the parameters by name'),
  }),
)
export type RpcRequest = z.infer<typeof RpcRequest>

const RpcError = z.strictObject({
  code: z.int(),
  message: z.string(),
  data: z.strictObject({
    code: ErrorCode,
    advice: z.string(),
    field: z.string().optional(),
    earliest: z.int().optional(),
    winner: RequestResolved.optional(),
    requestId: z.string().optional().describe('the id of the request, as in `x-request-id`'),
  }),
})

export const RpcResponse = named(
  'RpcResponse',
  z.strictObject({
    jsonrpc: z.literal('2.0'),
    id: Id.describe('null if the request had none'),
    result: z.unknown().optional(),
    error: RpcError.optional(),
  }),
)
export type RpcResponse = z.infer<typeof RpcResponse>

/** The JSON-RPC error codes for requests that are not calls. */
export const UNREADABLE = -32700
export const NO_REQUEST = -32600
export const NO_METHOD = -32601

export function answer({ id = null }: RpcRequest, result: unknown): RpcResponse {
  return { jsonrpc: '2.0', id, result }
}

export function refusal(
  id: Id | undefined,
  problem: Problem,
  rpcCode: number = jsonRpcCode(problem.code),
): RpcResponse {
  const { code, detail, advice, field, earliest, winner, requestId } = answeredWith(problem)
  const data = {
    code,
    advice,
    ...(field !== undefined && { field }),
    ...(earliest !== undefined && { earliest }),
    ...(winner && { winner }),
    ...(requestId !== undefined && { requestId }),
  }
  return { jsonrpc: '2.0', id: id ?? null, error: { code: rpcCode, message: detail, data } }
}

/** Extracts the id of an otherwise invalid request. */
export function idIn(body: unknown): Id | undefined {
  if (typeof body !== 'object' || body === null || !('id' in body)) return undefined
  return Id.safeParse(body.id).data
}
