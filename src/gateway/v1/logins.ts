import * as z from 'zod'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import type { LoginToken, Token } from '../http/auth.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'

/** Where the tokens of command lines are kept. A change applies from the next request on. */
export interface LoginStore {
  add(token: LoginToken): Promise<void>
  remove(token: Token): Promise<void>
}

/** Maximum number of logins of one principal. */
const MAX_LOGINS = 100

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
export function loginEndpoints(deps: Pick<GatewayDeps, 'tokens' | 'logins'>): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      url: '/v1/logins',
      summary: 'Let a command line act for this principal',
      body: NewLogin,
      status: 201,
      answer: LoginJson,
      errors: ['conflict', 'too_large', 'unsupported_media'],
      run: ({ body, request: { token } }) => addLogin(authenticated(deps), token, body),
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
      async run({ params: { id }, request: { token }, reply }) {
        const { tokens, logins } = authenticated(deps)
        const own = (await tokens()).filter((one) => one.principal === token.principal && one.login)
        const found = own.find((one) => (id === 'current' ? one.digest === token.digest : idOf(one) === id))
        if (!found) throw new MainstemError('not_found', 'there is no such login')
        await logins.remove(found)
        return reply.code(204).send()
      },
    }),
  ]
}

async function addLogin(
  { tokens, logins }: ReturnType<typeof authenticated>,
  caller: Token,
  { digest, name }: z.infer<typeof NewLogin>,
): Promise<LoginJson> {
  const { principal, roles, login } = caller
  // A stolen login could otherwise create others that survive its removal.
  if (login) {
    throw new MainstemError('forbidden', 'a login cannot create another login', {
      advice: 'Open the link in a browser that is signed in.',
    })
  }
  const known = await tokens()
  if (known.some((one) => one.digest === digest))
    throw new MainstemError('conflict', 'this link was used before')
  if (known.filter((one) => one.principal === principal && one.login).length >= MAX_LOGINS)
    throw new MainstemError('conflict', `${principal} has ${MAX_LOGINS} logins; remove one first`)
  const added = { principal, roles, digest, login: { name, createdAt: Date.now() } }
  await logins.add(added)
  return jsonOf(added, caller)
}

function authenticated({ tokens, logins }: Pick<GatewayDeps, 'tokens' | 'logins'>) {
  if (tokens && logins) return { tokens, logins }
  throw new MainstemError('conflict', 'authentication is disabled, so there are no logins', {
    advice: 'Call the server without a token.',
  })
}

/** Digests are random, so a part of one identifies it. */
function idOf({ digest }: Token): string {
  return digest.slice(0, 16)
}

function isLogin(token: Token): token is LoginToken {
  return token.login !== undefined
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
