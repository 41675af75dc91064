import * as z from 'zod'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { isUnreadable } from '../http/body/json.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { isServerError, problemFrom, problemOf } from '../http/problem.ts'
import { SSE } from '../streams/format.ts'
import { ProjectionCache } from '../streams/projection-cache.ts'
import { Clients } from './clients.ts'
import { controlMethods } from './control.ts'
import {
  answer,
  idIn,
  NO_METHOD,
  NO_REQUEST,
  RpcRequest,
  RpcResponse,
  refusal,
  UNREADABLE,
} from './envelope.ts'
import { type Method, paramsOf, type Rpc } from './method.ts'
import { monitorMethods } from './monitor.ts'
import { reconnectMethod } from './reconnect.ts'
import { Send, SendQuery, send } from './send.ts'
import { sessionMethods } from './sessions.ts'

/** The only method with a streamed response. */
const STREAMED = 'session.send'

/**
 * The session daemon API: JSON-RPC over one route. Requests rejected before the body is parsed get an HTTP problem;
 * later errors are JSON-RPC errors.
 */
export function rpcEndpoint(deps: GatewayDeps): Endpoint {
  const rpc: Rpc = { deps, clients: new Clients(), cache: new ProjectionCache() }
  const methods = new Map<string, Method>([
    ...Object.entries(sessionMethods(rpc)),
    ...Object.entries(controlMethods(rpc)),
    ...Object.entries(monitorMethods(rpc)),
    ['session.reconnect', reconnectMethod(rpc)],
  ])
  return endpoint({
    method: 'POST',
    url: '/rpc',
    client: 'rpc',
    summary: 'Call a method of the session daemon API; `session.send` responds with a stream',
    query: SendQuery,
    body: RpcRequest,
    answers: { 'application/json': RpcResponse, [SSE.type]: z.unknown() },
    unread,
    async run({ body, query, principal, actor, reply }) {
      try {
        if (body.method === STREAMED) {
          return await send(rpc, actor, paramsOf(Send, body.params), query, reply)
        }
        const method = methods.get(body.method)
        if (!method) return refusal(body.id, noMethod(body.method), NO_METHOD)
        const calling = { principal, actor, reply, raw: query.raw === '1' }
        return answer(body, await method.call(body.params, calling))
      } catch (thrown) {
        const problem = problemFrom(thrown)
        if (isServerError(problem)) deps.report(thrown)
        return refusal(body.id, problem)
      }
    },
  })
}

function noMethod(name: string) {
  return problemOf('not_found', `Method not found: ${name}`)
}

/** Builds the JSON-RPC error for a body that is not a call; earlier rejections stay HTTP problems. */
function unread(thrown: unknown, body: unknown): object | undefined {
  if (isUnreadable(thrown)) return refusal(null, problemFrom(thrown), UNREADABLE)
  if (body === undefined) return undefined
  if (!(thrown instanceof MainstemError) || thrown.code !== 'invalid_request') return undefined
  const problem = problemFrom(thrown)
  const batch = Array.isArray(body)
    ? problemOf('invalid_request', 'batches are not supported: send one call')
    : problem
  return refusal(idIn(body), batch, NO_REQUEST)
}
