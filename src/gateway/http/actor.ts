import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../model/access.ts'
import type { ClientKind } from '../../model/index.ts'

/** The header by which a client names its kind. It is a claim: the token proves the principal, nothing proves the kind. */
export const CLIENT_HEADER = 'x-mainstem-client'

/** The kinds that a client may name. */
const NAMED: ReadonlySet<unknown> = new Set<ClientKind>(['page', 'terminal', 'stdio'])

/** Who sent a request, and from where. `route` is the kind of the clients of its route. */
export function actorOf(request: FastifyRequest, route?: ClientKind): Actor {
  const { principal, id, headers } = request
  const address = addressOf(request)
  const named = headers[CLIENT_HEADER]
  return {
    principal,
    client: route ?? (isNamed(named) ? named : 'api'),
    ...(address !== undefined && { address }),
    request: id,
  }
}

function isNamed(kind: unknown): kind is ClientKind {
  return NAMED.has(kind)
}

/** The address of the client; undefined over the unix socket. Behind a trusted proxy, the one that the proxy reports. */
export function addressOf({ ip }: { ip: string | undefined }): string | undefined {
  // IPv4 addresses of a socket that listens on IPv6 have a prefix.
  return ip?.replace(/^::ffff:(?=\d+\.)/i, '') || undefined
}
