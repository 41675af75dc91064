import { z } from 'zod'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { isUnreadable } from '../http/json.ts'
import { problemFrom, problemOf } from '../http/problem.ts'
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

/** The one method whose answer is a stream. */
const STREAMED = 'session.send'

/**
 * The face of a session daemon: JSON-RPC over one route. What never became a call is an HTTP problem when it was
 * refused at the door, and an error of JSON-RPC from the body on.
 */
export function rpcEndpoint(deps: GatewayDeps): Endpoint {
  const rpc: Rpc = { deps, clients: new Clients(), folds: new ProjectionCache() }
  const methods = new Map<string, Method>([
    ...Object.entries(sessionMethods(rpc)),
    ...Object.entries(controlMethods(rpc)),
    ...Object.entries(monitorMethods(rpc)),
    ['session.reconnect', reconnectMethod(rpc)],
  ])
  return endpoint({
    method: 'POST',
    url: '/rpc',
    summary: 'Call a method of a session daemon; `session.send` is answered with a stream',
    query: SendQuery,
    body: RpcRequest,
    answers: { 'application/json': RpcResponse, [SSE.type]: z.unknown() },
    unread,
    async run({ body, query, principal, reply }) {
      try {
        if (body.method === STREAMED) {
          return await send(rpc, principal, paramsOf(Send, body.params), query, reply)
        }
        const method = methods.get(body.method)
        if (!method) return refusal(body.id, noMethod(body.method), NO_METHOD)
        return answer(body, await method.call(body.params, principal, reply))
      } catch (thrown) {
        const problem = problemFrom(thrown)
        if (problem.code === 'unknown') deps.report(thrown)
        return refusal(body.id, problem)
      }
    },
  })
}

function noMethod(name: string) {
  return problemOf('not_found', `Method not found: ${name}`)
}

/** What came is no call; what was refused before it was read stays a problem. */
function unread(thrown: unknown, body: unknown): object | undefined {
  if (isUnreadable(thrown)) return refusal(null, problemFrom(thrown), UNREADABLE)
  if (body === undefined || body === null) return undefined
  if (!(thrown instanceof MainstemError) || thrown.code !== 'invalid_request') return undefined
  const problem = problemFrom(thrown)
  const batch = Array.isArray(body)
    ? problemOf('invalid_request', 'a batch is not taken: send one call')
    : problem
  return refusal(idIn(body), batch, NO_REQUEST)
}
