import * as z from 'zod'
import type { Dialect, DialectOptions } from '../dialects/dialect.ts'
import { execute } from '../dialects/execute.ts'
import { dialects } from '../dialects/index.ts'
import { mainstem } from '../dialects/mainstem.ts'
import type { Actor } from '../model/access.ts'
import { LaunchKind, MainstemError, ModelName, OUTSIDE_ID, Policy } from '../model/index.ts'
import type { NewSession } from '../model/session/new-session.ts'
import type { IdempotencyKey } from '../sessions/claim.ts'
import { underCeiling } from './access/ceiling.ts'
import { workingDirectory } from './access/working-directory.ts'
import type { GatewayDeps } from './deps.ts'
import { stripNulls } from './http/body/json.ts'
import { type Call, type Endpoint, endpoint } from './http/endpoint.ts'
import { checkReady } from './http/health.ts'
import { fingerprintOf, KeyText } from './http/idempotency.ts'
import { named } from './http/openapi/components.ts'
import { badCursor, checkKept, checkReached, parseCursor, START } from './streams/cursor.ts'
import { EventStream } from './streams/event-stream.ts'
import { SSE, type StreamFormat, sseData } from './streams/format.ts'
import { streamNotices } from './streams/notices.ts'
import { Projector, type StreamView } from './streams/projector.ts'
import { streamLog } from './streams/stream-log.ts'

/** The body of `POST /v1/execute`: the documented fields, then our extensions. */
const ExecuteRequest = named(
  'ExecuteRequest',
  z.preprocess(
    stripNulls,
    z.strictObject({
      idempotency_key: KeyText,
      task: z.string().min(1),
      driver: z.string().regex(OUTSIDE_ID, 'not an agent id'),
      model: ModelName.optional(),
      auth_token: z.string().optional(),
      mode: LaunchKind.optional(),
      cwd: z.string().min(1).max(4096).optional(),
      policy: z.preprocess(stripNulls, Policy.partial().optional()),
    }),
  ),
)
type ExecuteRequest = z.infer<typeof ExecuteRequest>

const ExecuteQuery = z.object({ dialect: z.string().optional() }).catchall(z.string())

const ROUTE = 'POST /v1/execute'

/** Clients of this dialect know errors as messages. */
const FORMAT: StreamFormat = {
  ...SSE,
  failure: ({ detail: message, code }) => sseData({ kind: 'error', message, code }),
}

/** Streams one task. The same key and body join the run in flight, or replay it. */
export function executeEndpoint(deps: GatewayDeps): Endpoint {
  return endpoint({
    method: 'POST',
    url: '/v1/execute',
    client: 'execute',
    summary: 'Run one task and stream its events',
    auth: 'body',
    query: ExecuteQuery,
    body: ExecuteRequest,
    answers: { [SSE.type]: z.unknown() },
    errors: [
      'agent_not_found',
      'session_not_found',
      'idempotency_conflict',
      'unsupported_option',
      'overloaded',
      'draining',
    ],
    run: (call) => run(deps, call),
  })
}

async function run(
  deps: GatewayDeps,
  { query, body, actor, request, reply }: Call<unknown, z.infer<typeof ExecuteQuery>, ExecuteRequest>,
): Promise<void> {
  const { dialect, options } = dialectOf(query)
  const cursor = parseCursor(request.headers['last-event-id'])
  const view: StreamView = { dialect, options, after: cursor ?? START }
  const leave = deps.streams.enter(request.principal)
  try {
    const once = {
      scope: `${request.principal} ${ROUTE}`,
      key: body.idempotency_key,
      fingerprint: fingerprint(body),
    }
    const { id, replayed } = cursor ? await resume(deps, once, view) : await start(deps, once, actor, body)
    // Other dialects need the first entries of the log.
    const from = dialect === mainstem ? view.after.seq : 0
    if (replayed) checkKept(from, (await deps.sessions.record(id))?.earliest)
    reply.hijack()
    const headers = { 'mainstem-session': id, ...(replayed && { 'idempotent-replayed': 'true' }) }
    const notices = streamNotices(deps.storage, SSE, undefined)
    const stream = new EventStream(reply.raw, SSE, headers, deps.timing, notices)
    const projector = new Projector(view)
    const format = dialect === execute ? FORMAT : SSE
    await streamLog(deps, stream, { session: id, from, projector, format, raw: options.raw === '1' })
  } finally {
    leave()
  }
}

/** A client that resumes never starts a run: if the run were unknown, the task would run twice. */
async function resume({ sessions }: GatewayDeps, once: IdempotencyKey, view: StreamView) {
  const id = (await sessions.receipts.find(once))?.session
  if (id === undefined) throw badCursor('no run with this idempotency_key')
  await checkReached(sessions, { id, head: 0 }, view.after)
  await checkSent(sessions, id, view)
  return { id, replayed: true }
}

/** Refuses the id of a message that the run never had. The id 0 is the start. */
async function checkSent(sessions: GatewayDeps['sessions'], id: string, view: StreamView): Promise<void> {
  const { seq, part } = view.after
  if (seq === 0) return
  const projector = new Projector({ ...view, after: { ...START, seq: seq - 1 } })
  const sent: string[] = []
  for await (const entries of sessions.replay(id, 0, seq))
    for (const message of projector.project(entries)) sent.push(message.id)
  if (!sent.includes(Number.isFinite(part) ? `${seq}.${part}` : `${seq}`))
    throw badCursor('this run never sent a message with this id')
}

async function start(deps: GatewayDeps, once: IdempotencyKey, actor: Actor, body: ExecuteRequest) {
  const { cluster, runs } = deps
  const wanted = async () => {
    checkReady(deps)
    return sessionOf(deps, actor.principal, body)
  }
  const { id, session } = await cluster.createOnce(once, wanted, body.task, { actor })
  // The run continues without a subscriber; its session ends with its only turn.
  if (session) runs.track(session.ended(1).finally(() => cluster.finish(id)))
  return { id, replayed: session === undefined }
}

async function sessionOf(deps: GatewayDeps, principal: string, body: ExecuteRequest): Promise<NewSession> {
  const policy = Policy.parse({ ...deps.policy, ...body.policy })
  return {
    agent: body.driver,
    principal,
    ...(body.mode && { launch: body.mode }),
    prefers: 'oneshot',
    cwd: await workingDirectory(deps, body.cwd ?? deps.cwd),
    policy: underCeiling(policy, deps.ceiling),
    ...(body.model !== undefined && { options: { model: body.model } }),
    attended: false,
    single: true,
  }
}

/** The token is not part of the fingerprint. */
function fingerprint({ idempotency_key: _key, auth_token: _token, ...body }: ExecuteRequest): string {
  return fingerprintOf(body)
}

function dialectOf({ dialect: id = execute.id, ...options }: z.infer<typeof ExecuteQuery>): {
  dialect: Dialect
  options: DialectOptions
} {
  const dialect = dialects.get(id)
  if (!dialect) {
    const known = [...dialects.keys()].join(', ')
    throw new MainstemError('invalid_request', `dialect: unknown dialect "${id}"; known dialects: ${known}`, {
      field: 'dialect',
    })
  }
  return { dialect, options }
}
