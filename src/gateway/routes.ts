import { agentsEndpoint } from './agents.ts'
import { allEventsEndpoint } from './all-events.ts'
import { blobEndpoint } from './blobs.ts'
import { createEndpoint } from './board/create.ts'
import { boardEventEndpoints } from './board/events.ts'
import { boardSessionEndpoints } from './board/sessions.ts'
import { commandEndpoints } from './commands.ts'
import { coverageEndpoint } from './coverage.ts'
import type { Endpoint } from './endpoint.ts'
import { eventsEndpoint } from './events.ts'
import { executeEndpoint } from './execute.ts'
import { exportEndpoint } from './export.ts'
import { healthEndpoints } from './health.ts'
import { metricsEndpoint } from './metrics.ts'
import { newSessionEndpoint } from './new-session.ts'
import { describe, type OpenApi, openApiEndpoint } from './openapi.ts'
import type { GatewayParts } from './parts.ts'
import { referenceEndpoint } from './reference.ts'
import { requestEndpoints } from './requests.ts'
import { rpcEndpoint } from './rpc/endpoint.ts'
import { schemaEndpoints } from './schemas.ts'
import { sessionEndpoints } from './sessions.ts'
import { ticketEndpoint } from './tickets.ts'
import { usageEndpoint } from './usage.ts'

/** Every route there is. One that does not say otherwise asks for a token in its header. */
export function endpointsOf(parts: GatewayParts): Endpoint[] {
  let document: OpenApi | undefined
  const describeAll = () => {
    document ??= describe(all, parts.version)
    return document
  }
  const all = [
    ...healthEndpoints(parts),
    executeEndpoint(parts),
    rpcEndpoint(parts),
    agentsEndpoint(parts),
    newSessionEndpoint(parts),
    ...sessionEndpoints(parts),
    ...commandEndpoints(parts),
    eventsEndpoint(parts),
    exportEndpoint(parts),
    coverageEndpoint(parts),
    allEventsEndpoint(parts),
    ...requestEndpoints(parts),
    usageEndpoint(parts),
    blobEndpoint(parts),
    ticketEndpoint(parts),
    createEndpoint(parts),
    ...boardSessionEndpoints(parts),
    ...boardEventEndpoints(parts),
    metricsEndpoint(parts),
    ...schemaEndpoints(),
    openApiEndpoint(describeAll),
    referenceEndpoint(describeAll),
  ]
  return all
}
