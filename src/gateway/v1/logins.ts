import * as z from 'zod'
import { MainstemError } from '../../model/index.ts'
import type { AccessControl } from '../access/access-control.ts'
import type { GatewayDeps } from '../deps.ts'
import { actorOf } from '../http/actor.ts'
import { isLogin, type LoginToken, type Token } from '../http/auth.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'

const NewLogin = named(
  'NewLogin',
  z.strictObject({
    digest: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe('SHA-256 in hexadecimal of a token with 256 random bits that the command line created'),
    name: z
      .string()
      .regex(/^[\w .@-]{1,64}$/)
      .describe('what the command line calls itself, usually its host'),
  }),
)

const LoginJson = named(
  'Login',
  z.strictObject({
    id: z.string(),
    name: z.string(),
    principal: z.string(),
    createdAt: z.int(),
    current: z.boolean().describe('true for the login that made this call'),
  }),
)
type LoginJson = z.infer<typeof LoginJson>

const LoginList = named('LoginList', z.strictObject({ logins: z.array(LoginJson) }))

/**
 * Command lines that act for a principal. The command line creates its token and shows a link with the digest; the page
 * adds the digest. The token itself is sent only in the header of later calls.
 */
export function loginEndpoints(deps: Pick<GatewayDeps, 'tokens' | 'accessControl'>): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      url: '/v1/logins',
      summary: 'Let a command line act for this principal',
      body: NewLogin,
      status: 201,
      answer: LoginJson,
      errors: ['conflict', 'too_large', 'unsupported_media'],
      async run({ body: { name, digest }, request }) {
        const added = await authenticated(deps).addLogin(name, digest, request.token, actorOf(request))
        return jsonOf(added, request.token)
      },
    }),
    endpoint({
      method: 'GET',
      url: '/v1/logins',
      summary: 'List the command lines that act for this principal',
      answer: LoginList,
      async run({ request: { token } }) {
        if (!deps.tokens) return { logins: [] }
        const known = (await deps.tokens()).filter(({ principal }) => principal === token.principal)
        return { logins: known.filter(isLogin).map((one) => jsonOf(one, token)) }
      },
    }),
    endpoint({
      method: 'DELETE',
      url: '/v1/logins/:id',
      summary: 'Remove a login; `current` is the one that makes the call',
      params: z.strictObject({ id: z.string() }),
      status: 204,
      async run({ params: { id }, request, reply }) {
        const access = authenticated(deps)
        const { token } = request
        const own = (await access.tokens())
          .filter(isLogin)
          .filter(({ principal }) => principal === token.principal)
        const found = own.find((one) => (id === 'current' ? one.digest === token.digest : idOf(one) === id))
        if (!found) throw new MainstemError('not_found', 'there is no such login')
        await access.removeLogin(found, actorOf(request))
        return reply.code(204).send()
      },
    }),
  ]
}

/** Refuses if authentication is disabled. */
export function authenticated({
  tokens,
  accessControl,
}: Pick<GatewayDeps, 'tokens' | 'accessControl'>): AccessControl {
  if (tokens) return accessControl
  throw new MainstemError('conflict', 'authentication is disabled, so there are no tokens and no logins', {
    advice: 'Call the server without a token.',
  })
}

/** Digests are random, so a part of one identifies it. */
function idOf({ digest }: Token): string {
  return digest.slice(0, 16)
}

function jsonOf(token: LoginToken, caller: Token): LoginJson {
  return {
    id: idOf(token),
    principal: token.principal,
    name: token.login.name,
    createdAt: token.login.createdAt,
    current: token.digest === caller.digest,
  }
}
