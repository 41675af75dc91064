import { z } from 'zod'
import { parse } from '../parse.ts'
import type { GatewayParts } from '../parts.ts'
import type { Clients } from './clients.ts'

/** What every method works with. */
export interface Rpc {
  parts: GatewayParts
  clients: Clients
}

/** A method that is answered at once. */
export interface Method {
  call(params: unknown, principal: string): Promise<object>
}

/** Parameters may be left out altogether; what is not known is refused, because it would be a wish not heard. */
export function method<P>(
  params: z.ZodType<P>,
  run: (params: P, principal: string) => Promise<object>,
): Method {
  return { call: async (given, principal) => run(paramsOf(params, given), principal) }
}

export function paramsOf<P>(schema: z.ZodType<P>, given: unknown): P {
  return parse(schema, given ?? {}, 'params')
}

/** The parameters of everything about one session. */
export const OfSession = z.strictObject({ sessionId: z.string().min(1).max(128) })
