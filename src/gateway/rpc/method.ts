import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { GatewayDeps } from '../deps.ts'
import { parse } from '../http/parse.ts'
import { stripNulls } from '../http/strip-nulls.ts'
import type { ProjectionCache } from '../streams/projection-cache.ts'
import type { Clients } from './clients.ts'

/** What every method works with. */
export interface Rpc {
  deps: GatewayDeps
  clients: Clients
  /** How far logs were read in the dialect of this face. */
  folds: ProjectionCache
}

/** A method that is answered at once. */
export interface Method {
  call(params: unknown, principal: string, reply: FastifyReply): Promise<object>
}

/** Parameters may be left out altogether; what is not known is refused, because it would be a wish not heard. */
export function method<P>(
  params: z.ZodType<P>,
  run: (params: P, principal: string, reply: FastifyReply) => Promise<object>,
): Method {
  return { call: async (given, principal, reply) => run(paramsOf(params, given), principal, reply) }
}

export function paramsOf<P>(schema: z.ZodType<P>, given: unknown): P {
  return parse(schema, given ?? {}, 'params')
}

/** Parameters by their names. */
export function paramsWith<S extends z.ZodRawShape>(shape: S) {
  return z.preprocess(stripNulls, z.strictObject(shape))
}

export const sessionId = z.string().min(1).max(128)

/** The parameters of everything about one session. */
export const OfSession = paramsWith({ sessionId })
