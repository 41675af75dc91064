import { createEndpoint } from './board/create.ts'
import { boardEventEndpoints } from './board/events.ts'
import { boardSessionEndpoints } from './board/sessions.ts'
import type { GatewayDeps } from './deps.ts'
import { executeEndpoint } from './execute.ts'
import type { Endpoint } from './http/endpoint.ts'
import { healthEndpoints } from './http/health.ts'
import { metricsEndpoint } from './http/metrics.ts'
import { describe, type OpenApi, openApiEndpoint } from './http/openapi/openapi.ts'
import { referenceEndpoint } from './http/openapi/reference.ts'
import { schemaEndpoints } from './http/openapi/schemas.ts'
import { ticketEndpoint } from './http/tickets.ts'
import { rpcEndpoint } from './rpc/endpoint.ts'
import { agentsEndpoint } from './v1/agents.ts'
import { allEventsEndpoint } from './v1/all-events.ts'
import { auditEndpoint } from './v1/audit.ts'
import { blobEndpoint } from './v1/blobs.ts'
import { commandEndpoints } from './v1/commands.ts'
import { coverageEndpoint } from './v1/coverage.ts'
import { eventsEndpoint } from './v1/events.ts'
import { exportEndpoint } from './v1/export.ts'
import { filesEndpoint } from './v1/files.ts'
import { framesEndpoint } from './v1/frames.ts'
import { grantEndpoints } from './v1/grants.ts'
import { importEndpoint } from './v1/import.ts'
import { loginEndpoints } from './v1/logins.ts'
import { forkEndpoint, newSessionEndpoint } from './v1/new-session.ts'
import { nodesEndpoint } from './v1/nodes.ts'
import { requestEndpoints } from './v1/requests.ts'
import { searchEndpoint } from './v1/search.ts'
import { sessionEndpoints } from './v1/sessions.ts'
import { tokenEndpoints } from './v1/tokens.ts'
import { usageEndpoint } from './v1/usage.ts'
import { webhookEndpoints } from './v1/webhooks.ts'
import { pageEndpoints } from './web/page-endpoints.ts'
import { signInEndpoints } from './web/sign-in.ts'

/** All routes. A route requires a token in its header unless it declares otherwise. */
export function endpointsOf(deps: GatewayDeps): Endpoint[] {
  let document: OpenApi | undefined
  const describeAll = () => {
    document ??= describe(all, deps.version)
    return document
  }
  const all = [
    ...healthEndpoints(deps),
    executeEndpoint(deps),
    rpcEndpoint(deps),
    agentsEndpoint(deps),
    nodesEndpoint(deps),
    newSessionEndpoint(deps),
    forkEndpoint(deps),
    ...sessionEndpoints(deps),
    ...commandEndpoints(deps),
    eventsEndpoint(deps),
    exportEndpoint(deps),
    importEndpoint(deps),
    coverageEndpoint(deps),
    framesEndpoint(deps),
    filesEndpoint(deps),
    allEventsEndpoint(deps),
    ...requestEndpoints(deps),
    usageEndpoint(deps),
    auditEndpoint(deps),
    searchEndpoint(deps),
    blobEndpoint(deps),
    ticketEndpoint(deps),
    ...loginEndpoints(deps),
    ...tokenEndpoints(deps),
    ...grantEndpoints(deps),
    ...webhookEndpoints(deps),
    createEndpoint(deps),
    ...boardSessionEndpoints(deps),
    ...boardEventEndpoints(deps),
    metricsEndpoint(deps),
    ...schemaEndpoints(),
    openApiEndpoint(describeAll),
    referenceEndpoint(describeAll),
    ...pageEndpoints(deps),
    ...signInEndpoints(deps),
  ]
  return all
}
