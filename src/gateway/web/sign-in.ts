import type { FastifyRequest } from 'fastify'
import * as z from 'zod'
import { Role } from '../../model/access.ts'
import { MainstemError } from '../../model/index.ts'
import { allowsEverything } from '../access/option-limits.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Token, tokenPresented } from '../http/auth.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'
import { cookieOf, setCookie } from './cookie-header.ts'
import type { SignInCookies } from './sign-in-cookie.ts'

const SignInJson = named(
  'SignIn',
  z
    .strictObject({
      ticket: z.string().optional().describe('from `mainstem open`; valid once'),
      token: z.string().optional(),
      replace: z
        .boolean()
        .optional()
        .describe('true: a ticket may replace the sign-in of another principal in this browser'),
    })
    .refine(
      ({ ticket, token }) => (ticket === undefined) !== (token === undefined),
      'either ticket or token',
    ),
)
type SignInJson = z.infer<typeof SignInJson>

const ServerInfo = named(
  'ServerInfo',
  z.strictObject({
    version: z.string(),
    pid: z.int().describe('the process of the server, on its machine'),
    principal: z.string().describe('who the token or the sign-in belongs to'),
    roles: z.array(Role),
    authentication: z.boolean().describe('false: the server asks for no token'),
    cwd: z.string().describe('where agents work unless a session names another directory'),
    roots: z.array(z.string()).describe('directories that agents may work in'),
    variables: z
      .record(z.string(), z.array(z.string()))
      .describe('what `keys` of a new session may contain, by agent: names, and prefixes that end in `*`'),
    degraded: z
      .strictObject({ code: z.literal('storage_failed'), message: z.string(), since: z.int() })
      .optional()
      .describe('the store cannot be written since this time: no turn makes progress'),
    now: z.int().describe('the clock of the server, in milliseconds since 1970'),
  }),
)

/** Sign-in of a browser: a ticket or a token becomes a cookie that scripts cannot read. */
export function signInEndpoints(deps: GatewayDeps): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      url: '/v1/sign-in',
      summary: 'Exchange a ticket or a token for the cookie of a browser',
      auth: 'open',
      body: SignInJson,
      status: 204,
      errors: ['invalid_request', 'unauthorized', 'forbidden', 'conflict', 'too_large', 'unsupported_media'],
      async run({ body, request, reply }) {
        const { tokens, cookies } = deps
        reply.header('cache-control', 'no-store')
        if (tokens) {
          const known = await tokens()
          refuseSwitch(deps, body, known, signedInAs(cookies, request, known))
          const token = await tokenFor(deps, body, known)
          reply.header('set-cookie', setCookie(request, cookies.issue(token)))
        }
        return reply.code(204).send()
      },
    }),
    endpoint({
      method: 'POST',
      url: '/v1/sign-out',
      summary: 'Remove the cookie of a browser',
      status: 204,
      async run({ request, reply }) {
        reply.header('set-cookie', setCookie(request, ''))
        return reply.code(204).send()
      },
    }),
    endpoint({
      method: 'GET',
      url: '/v1/server',
      summary: 'The server, and the principal that calls it',
      answer: ServerInfo,
      async run({ principal, roles }) {
        const { version, cwd, roots, tokens } = deps
        return {
          version,
          pid: process.pid,
          principal,
          roles: [...roles],
          authentication: tokens !== undefined,
          cwd,
          roots: [...roots],
          variables: allowsEverything(deps.ceiling) ? deps.variables() : {},
          ...(deps.storage.failure && { degraded: deps.storage.failure }),
          now: Date.now(),
        }
      },
    }),
  ]
}

/** The principal that this browser is signed in as. */
function signedInAs(
  cookies: SignInCookies,
  request: FastifyRequest,
  known: readonly Token[],
): string | undefined {
  const cookie = cookieOf(request)
  if (cookie === undefined) return undefined
  try {
    return cookies.tokenOf(cookie, known).principal
  } catch {
    // Expired, or its token was removed.
    return undefined
  }
}

/** A link must not sign a browser in as another principal unasked: a person would work, and show files, for it. */
function refuseSwitch(
  { tickets }: GatewayDeps,
  { ticket, replace }: SignInJson,
  known: readonly Token[],
  current: string | undefined,
): void {
  const next = ticket === undefined ? undefined : tickets.holderOf(ticket, known)?.principal
  if (replace || current === undefined || next === undefined || next === current) return
  throw new MainstemError('conflict', `you are signed in as ${current}, and this link signs in as ${next}`, {
    advice: 'Sign out first, or send `replace` with the ticket.',
  })
}

async function tokenFor(
  { tickets }: GatewayDeps,
  { ticket, token }: SignInJson,
  known: readonly Token[],
): Promise<Token> {
  if (ticket === undefined) return tokenPresented(known, token)
  const found = await tickets.redeem(ticket, known)
  if (found) return found
  throw new MainstemError('unauthorized', 'this link was used before or has expired', {
    advice: 'Run `mainstem open` to get a new one.',
  })
}
