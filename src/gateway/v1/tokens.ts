import type { FastifyReply } from 'fastify'
import * as z from 'zod'
import { type Actor, Role } from '../../model/access.ts'
import { MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { actorOf } from '../http/actor.ts'
import { type Caller, isOperator } from '../http/auth.ts'
import { type Call, type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'
import { authenticated } from './logins.ts'

const NewToken = named(
  'NewToken',
  z.strictObject({
    name: z.string().describe('the principal that the token proves'),
    digest: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe('SHA-256 in hexadecimal of a token with 256 random bits that the caller created'),
  }),
)

const TokenJson = named(
  'NamedToken',
  z.strictObject({
    name: z.string(),
    roles: z.array(Role),
    createdAt: z.int(),
    by: z.string().describe('who added it'),
  }),
)

const TokenList = named('TokenList', z.strictObject({ tokens: z.array(TokenJson) }))

/** The tokens of principals, for operators. They hold on every server of the store. */
export function tokenEndpoints(deps: GatewayDeps): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      url: '/v1/tokens',
      summary: 'List the tokens that were added, by name; for operators',
      answer: TokenList,
      errors: ['forbidden', 'conflict'],
      async run(call) {
        checkOperator(call)
        const tokens = await authenticated(deps).named()
        return {
          tokens: tokens.map(({ name, roles, at, by }) => ({
            ...{ name, roles: [...roles], createdAt: Math.floor(at), by },
          })),
        }
      },
    }),
    endpoint({
      method: 'POST',
      url: '/v1/tokens',
      summary: 'Add a token for a new principal; for operators',
      body: NewToken,
      status: 204,
      errors: ['forbidden', 'conflict', 'too_large', 'unsupported_media'],
      async run(call) {
        checkOperator(call)
        return changeAccess(deps, call, (access, actor) => access.addToken(call.body, actor))
      },
    }),
    endpoint({
      method: 'DELETE',
      url: '/v1/tokens/:name',
      summary: 'Remove the token of a principal and its logins, and end their streams; for operators',
      params: z.strictObject({ name: z.string() }),
      status: 204,
      errors: ['forbidden', 'conflict', 'not_found'],
      async run(call) {
        checkOperator(call)
        return changeAccess(deps, call, (access, actor) => access.removeToken(call.params.name, actor))
      },
    }),
  ]
}

/** Changes tokens or grants in the name of the caller, and answers without a body. */
export async function changeAccess(
  deps: GatewayDeps,
  { request, reply }: Pick<Call<unknown, unknown, unknown>, 'request' | 'reply'>,
  change: (access: GatewayDeps['accessControl'], actor: Actor) => Promise<void>,
): Promise<FastifyReply> {
  await change(authenticated(deps), actorOf(request))
  return reply.code(204).send()
}

/** Refuses everybody but operators. */
export function checkOperator(caller: Caller): void {
  if (isOperator(caller)) return
  throw new MainstemError('forbidden', 'only an operator can do this', {
    advice: 'Use the first token of a server, or ask its operator.',
  })
}
