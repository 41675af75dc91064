import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../model/access.ts'
import type { ClientKind } from '../../model/index.ts'

/** The header by which a client names its kind. It is a claim: the token proves the principal, nothing proves the kind. */
export const CLIENT_HEADER = 'x-mainstem-client'

/** The kinds that a client may name. */
const NAMED = new Map<unknown, ClientKind>([
  ['page', 'page'],
  ['terminal', 'terminal'],
  ['stdio', 'stdio'],
])

/** Who sent a request, and from where. `route` is the kind of the clients of its route. */
export function actorOf(request: FastifyRequest, route?: ClientKind): Actor {
  const { principal, id, headers } = request
  const address = addressOf(request)
  return {
    principal,
    client: route ?? NAMED.get(headers[CLIENT_HEADER]) ?? 'api',
    ...(address !== undefined && { address }),
    request: id,
  }
}

/** The address of the client; undefined over the unix socket. Behind a trusted proxy, the one that the proxy reports. */
export function addressOf({ ip }: { ip: string | undefined }): string | undefined {
  // IPv4 addresses of a socket that listens on IPv6 have a prefix.
  return ip?.replace(/^::ffff:(?=\d+\.)/i, '') || undefined
}
