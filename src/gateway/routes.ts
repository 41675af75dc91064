import type { RouteOptions } from 'fastify'
import { executeRoute } from './execute.ts'
import { healthRoutes } from './health.ts'
import type { GatewayParts } from './parts.ts'

/** Every route there is. One that does not say otherwise asks for a token in its header. */
export function routesOf(parts: GatewayParts): RouteOptions[] {
  return [...healthRoutes(parts), executeRoute(parts)]
}
