import type { FastifyReply } from 'fastify'
import * as z from 'zod'
import { AuditAction, AuditRecord } from '../../model/access.ts'
import { MainstemError } from '../../model/index.ts'
import { epochMs } from '../../model/text/epoch-ms.ts'
import type { AuditQuery } from '../../reading/audit-trail.ts'
import type { GatewayDeps } from '../deps.ts'
import { isOperator } from '../http/auth.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { named } from '../http/openapi/components.ts'
import { integer } from '../http/query.ts'
import { EventStream } from '../streams/event-stream.ts'
import { formatOf, NDJSON } from '../streams/format.ts'

/** Rows that are read at a time for NDJSON. */
const PAGE = 500

const AuditRecordJson = named('AuditRecord', AuditRecord)

const AuditPage = named(
  'AuditPage',
  z.strictObject({
    records: z.array(AuditRecordJson),
    next: z.string().optional().describe('pass it as `after` to get the next page; absent on the last one'),
  }),
)

const Time = z
  .string()
  .transform((text, context) => {
    const time = /^\d{1,16}$/.test(text) ? Number(text) : epochMs(text)
    if (time !== undefined) return time
    context.addIssue({ code: 'custom', message: 'not a time' })
    return z.NEVER
  })
  .meta({ type: 'string', description: 'milliseconds since 1970, or ISO 8601 with a time zone' })

/** A place in the trail, as text. */
const Place = z
  .string()
  .regex(/^\d+(?:\.\d+)?_[\w-]{1,128}$/, 'not a cursor of this route')
  .transform((text) => {
    const [at = '', ...id] = text.split('_')
    return { at: Number(at), id: id.join('_') }
  })
  .meta({ type: 'string', description: '`next` of the page before' })

const AuditSearch = z.strictObject({
  principal: z.string().max(512).optional().describe('only what this principal did'),
  session: z.string().max(512).optional().describe('only what was done to this session'),
  action: AuditAction.optional().describe('only this action'),
  since: Time.optional(),
  until: Time.optional(),
  order: z.enum(['newest', 'oldest']).default('newest').describe('which rows come first'),
  after: Place.optional(),
  limit: integer(1, 1000).default(100),
})

/** Who did what, for operators: a page of JSON, or every row that matches as NDJSON. */
export function auditEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'GET',
    url: '/v1/audit',
    summary: 'Read who did what, for operators: one page, or all of it as NDJSON',
    query: AuditSearch,
    answers: { 'application/json': AuditPage, [NDJSON.type]: AuditRecordJson },
    errors: ['forbidden', 'overloaded'],
    async run({ query: { limit, ...given }, principal, roles, request, reply }) {
      if (!isOperator({ roles })) {
        throw new MainstemError('forbidden', 'only an operator can read the audit trail')
      }
      const query = queryOf(given)
      if (formatOf(request.headers.accept) === NDJSON) return stream(deps, principal, query, reply)
      // One more than fits tells whether there is another page.
      const found = await deps.sessions.audit.read({ ...query, limit: limit + 1 })
      const records = found.slice(0, limit)
      const last = records.at(-1)
      return { records, ...(last && found.length > limit && { next: `${last.at}_${last.id}` }) }
    },
  })
}

type Unlimited = Omit<AuditQuery, 'limit'>

function queryOf(given: Omit<z.infer<typeof AuditSearch>, 'limit'>): Unlimited {
  const { principal, session, action, since, until, order, after } = given
  return {
    order,
    ...(principal !== undefined && { principal }),
    ...(session !== undefined && { session }),
    ...(action && { action }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(after && { after }),
  }
}

async function stream(
  deps: GatewayDeps,
  principal: string,
  query: Unlimited,
  reply: FastifyReply,
): Promise<void> {
  const leave = deps.streams.enter(principal)
  try {
    // Before the head is sent, so that a query that fails gets a problem.
    let records = await deps.sessions.audit.read({ ...query, limit: PAGE })
    reply.hijack()
    const out = new EventStream(reply.raw, NDJSON, {}, deps.timing)
    try {
      while (records.length > 0 && !out.signal.aborted) {
        await out.write(records.map((message) => NDJSON.write({ id: '', message })).join(''))
        const after = records.at(-1)
        records = await deps.sessions.audit.read({ ...query, limit: PAGE, ...(after && { after }) })
      }
      out.end()
    } catch (thrown) {
      deps.report(thrown)
      // Broken off, so that what follows is not taken for missing.
      out.breakOff()
    }
  } finally {
    leave()
  }
}
