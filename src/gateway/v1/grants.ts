import * as z from 'zod'
import { Grant } from '../../model/access.ts'
import type { GatewayDeps } from '../deps.ts'
import { isOperator } from '../http/auth.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'
import { changeAccess, checkOperator } from './tokens.ts'

const GrantJson = named('Grant', Grant)

const NewGrant = named('NewGrant', Grant.pick({ to: true, of: true }))

const GrantList = named('GrantList', z.strictObject({ grants: z.array(GrantJson) }))

/** Grants: who may read the sessions of another principal and answer their requests. */
export function grantEndpoints(deps: GatewayDeps): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      url: '/v1/grants',
      summary: 'List the grants to and of the caller; all grants for operators',
      answer: GrantList,
      async run({ principal, roles }) {
        const grants = deps.tokens ? await deps.accessControl.grants() : []
        const isShown = isOperator({ roles })
          ? () => true
          : ({ to, of }: Grant) => to === principal || of === principal
        return { grants: grants.filter(isShown).map((one) => ({ ...one, at: Math.floor(one.at) })) }
      },
    }),
    endpoint({
      method: 'POST',
      url: '/v1/grants',
      summary: 'Let a principal read the sessions of another and answer their requests; for operators',
      body: NewGrant,
      status: 204,
      errors: ['forbidden', 'conflict', 'not_found', 'too_large', 'unsupported_media'],
      async run(call) {
        checkOperator(call)
        return changeAccess(deps, call, (access, actor) => access.addGrant(call.body, actor))
      },
    }),
    endpoint({
      method: 'DELETE',
      url: '/v1/grants/:to/:of',
      summary:
        'Remove a grant, and end the streams that it allowed; for operators and the owner of the sessions',
      params: z.strictObject({ to: z.string(), of: z.string() }),
      status: 204,
      errors: ['forbidden', 'conflict', 'not_found'],
      async run(call) {
        if (call.params.of !== call.principal) checkOperator(call)
        return changeAccess(deps, call, (access, actor) => access.removeGrant(call.params, actor))
      },
    }),
  ]
}
