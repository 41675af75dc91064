import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../model/index.ts'

/** A request, for the server's log. Has no query, because a ticket may be in it. */
export interface RequestScope {
  requestId: string
  method: string
  path: string
  principal?: string
}

interface OpenScope {
  request: FastifyRequest
  /** The code of the error that was sent, also where the status is 200, as for JSON-RPC. */
  code?: ErrorCode
}

/** Follows the work for a request through all that it awaits, so that no error needs to carry its request along. */
const answering = new AsyncLocalStorage<OpenScope>()

/** Runs what answers a request, and returns how to read the code of its error. */
export function runInScope(request: FastifyRequest, work: () => void): () => ErrorCode | undefined {
  const scope: OpenScope = { request }
  answering.run(scope, work)
  return () => scope.code
}

export function scopeOf({ id, method, url, principal }: FastifyRequest): RequestScope {
  const path = url.split('?', 1)[0] ?? ''
  return { requestId: id, method, path, ...(principal !== '' && { principal }) }
}

/** The request that is being answered; undefined in work of the server itself. */
export function currentRequest(): RequestScope | undefined {
  const scope = answering.getStore()
  return scope && scopeOf(scope.request)
}

/** Call when an error is sent. Returns it with the id of its request. */
export function answeredWith<E extends { code: ErrorCode }>(error: E): E & { requestId?: string } {
  const scope = answering.getStore()
  if (!scope) return error
  scope.code = error.code
  return { ...error, requestId: scope.request.id }
}
