import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { z } from 'zod'
import type { Dialect, DialectOptions } from '../dialects/dialect.ts'
import { execute } from '../dialects/execute.ts'
import { dialects } from '../dialects/index.ts'
import { LaunchKind, MainstemError, ModelName, OUTSIDE_ID, Policy } from '../model/index.ts'
import type { NewSession } from '../sessions/parts.ts'
import type { IdempotencyKey } from '../sessions/sessions.ts'
import { underCeiling } from './ceiling.ts'
import { badCursor, type Cursor, parseCursor, START } from './cursor.ts'
import { EventStream } from './event-stream.ts'
import { checkReady } from './health.ts'
import { parse } from './parse.ts'
import type { GatewayParts } from './parts.ts'
import { Projector } from './projector.ts'
import { directoryBelow } from './roots.ts'

/** The body of `POST /v1/execute`: the documented fields, then ours. */
const ExecuteRequest = z.strictObject({
  idempotency_key: z
    .string()
    .min(1)
    .max(255)
    .regex(/^\P{Cc}*$/u, 'control characters are not allowed'),
  task: z.string().min(1),
  driver: z.string().regex(OUTSIDE_ID, 'not the id of an agent'),
  model: ModelName.optional(),
  auth_token: z.string().optional(),
  mode: LaunchKind.optional(),
  cwd: z.string().min(1).max(4096).optional(),
  policy: Policy.partial().optional(),
})
type ExecuteRequest = z.infer<typeof ExecuteRequest>

const Query = z.record(z.string(), z.string())

const ROUTE = 'POST /v1/execute'

/** One task, one stream. The same key and body join the run in flight, or replay it. */
export function executeRoute(parts: GatewayParts): RouteOptions {
  return {
    method: 'POST',
    url: '/v1/execute',
    config: { auth: 'body' },
    handler: (request, reply) => run(parts, request, reply),
  }
}

async function run(parts: GatewayParts, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { dialect, options } = dialectOf(request.query)
  const cursor = parseCursor(request.headers['last-event-id'])
  const body = parse(ExecuteRequest, request.body)
  const leave = parts.streams.enter(request.principal)
  try {
    const once = {
      scope: `${request.principal} ${ROUTE}`,
      key: body.idempotency_key,
      fingerprint: fingerprint(body),
    }
    const { id, replayed } = cursor ? await resume(parts, once, cursor) : await start(parts, once, body)
    reply.hijack()
    const headers = { 'mainstem-session': id, ...(replayed && { 'idempotent-replayed': 'true' }) }
    const stream = new EventStream(reply.raw, headers, parts.timing)
    await pour(parts, id, new Projector(dialect, options, cursor ?? START), stream)
  } finally {
    leave()
  }
}

/** Sends the log of a session, replayed and then live, until the dialect has said its last. */
async function pour(
  parts: GatewayParts,
  id: string,
  projector: Projector,
  stream: EventStream,
): Promise<void> {
  try {
    for await (const entries of parts.sessions.follow(id, 0, stream.signal)) {
      for (const text of projector.write(entries)) await stream.write(text)
      if (projector.finished || stream.signal.aborted) break
    }
    stream.end()
  } catch (thrown) {
    parts.report(thrown)
    stream.breakOff()
  }
}

/** A reader that comes back never starts anything: were the run unknown, the task would be done twice. */
async function resume({ sessions }: GatewayParts, once: IdempotencyKey, cursor: Cursor) {
  const id = await sessions.find(once)
  if (id === undefined) throw badCursor('there is no run with this idempotency_key')
  if (cursor.seq > (await sessions.head(id))) throw badCursor('beyond the end of this run')
  return { id, replayed: true }
}

async function start(parts: GatewayParts, once: IdempotencyKey, body: ExecuteRequest) {
  const { sessions, runs } = parts
  checkReady(parts)
  const request = await sessionOf(parts, body)
  const { id, session } = await sessions.createOnce(once, request, body.task)
  // The run goes on whoever listens; its session is over when its one turn is.
  if (session) runs.track(session.settled(1).finally(() => sessions.end(id)))
  return { id, replayed: session === undefined }
}

async function sessionOf(parts: GatewayParts, body: ExecuteRequest): Promise<NewSession> {
  const policy = Policy.parse({ ...parts.policy, ...body.policy })
  return {
    agent: body.driver,
    ...(body.mode && { launch: body.mode }),
    prefers: 'oneshot',
    cwd: await directoryBelow(parts.roots, body.cwd ?? parts.cwd),
    policy: underCeiling(policy, parts.ceiling),
    ...(body.model !== undefined && { options: { model: body.model } }),
    attended: false,
  }
}

/** The parsed body has its keys in the schema's order, so two spellings of one request are one. */
function fingerprint({ idempotency_key: _key, auth_token: _token, ...body }: ExecuteRequest): string {
  return createHash('sha256').update(JSON.stringify(body)).digest('hex')
}

function dialectOf(query: unknown): { dialect: Dialect; options: DialectOptions } {
  const { dialect: id = execute.id, ...options } = parse(Query, query, 'query')
  const dialect = dialects.get(id)
  if (!dialect) {
    const known = [...dialects.keys()].join(', ')
    throw new MainstemError('invalid_request', `dialect: there is no "${id}"; known: ${known}`, {
      field: 'dialect',
    })
  }
  return { dialect, options }
}
