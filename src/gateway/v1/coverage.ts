import * as z from 'zod'
import { Coverage } from '../../model/index.ts'
import { NO_FRAMES } from '../../model/session/coverage.ts'
import { ownedSession, SessionPath } from '../access/session-access.ts'
import type { GatewayDeps } from '../deps.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'

const CoverageReport = named(
  'CoverageReport',
  Coverage.extend({
    unaccounted: z.int().nonnegative().describe('frames without a verdict; always 0'),
  }),
)

/** Reports how the agent's frames were mapped. */
export function coverageEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/v1/sessions/:id/coverage',
    summary: "Count the agent's frames that became events and those that did not",
    params: SessionPath,
    answer: CoverageReport,
    errors: ['session_not_found'],
    async run({ params: { id }, principal }) {
      const { coverage = NO_FRAMES } = await ownedSession(deps, principal, id)
      const { frames, mapped, unmapped, malformed, oversized } = coverage
      return { ...coverage, unaccounted: frames - mapped - unmapped - malformed - oversized }
    },
  })
}
