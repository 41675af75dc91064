import type { FastifyReply } from 'fastify'
import * as z from 'zod'
import type { Actor } from '../../model/access.ts'
import { parse } from '../../model/text/parse.ts'
import type { GatewayDeps } from '../deps.ts'
import { stripNulls } from '../http/body/json.ts'
import type { ProjectionCache } from '../streams/projection-cache.ts'
import type { Clients } from './clients.ts'

/** The dependencies of all methods. */
export interface Rpc {
  deps: GatewayDeps
  clients: Clients
  /** Cached projections in the dialect of this API. */
  cache: ProjectionCache
}

/** The circumstances of a call. */
export interface Calling {
  principal: string
  actor: Actor
  reply: FastifyReply
  /** The query asks for native messages. */
  raw: boolean
}

/** A method with an immediate response. */
export interface Method {
  call(params: unknown, calling: Calling): Promise<object>
}

/** All parameters may be omitted; unknown ones are rejected, because ignoring them would ignore the client's intent. */
export function method<P>(
  params: z.ZodType<P>,
  run: (params: P, principal: string, calling: Calling) => Promise<object>,
): Method {
  return { call: async (given, calling) => run(paramsOf(params, given), calling.principal, calling) }
}

export function paramsOf<P>(schema: z.ZodType<P>, given: unknown): P {
  return parse(schema, given ?? {}, 'params')
}

/** Parameters by name. */
export function paramsWith<S extends z.ZodRawShape>(shape: S) {
  return z.preprocess(stripNulls, z.strictObject(shape))
}

export const sessionId = z.string().min(1).max(128)

/** The parameters of all methods of one session. */
export const OfSession = paramsWith({ sessionId })
