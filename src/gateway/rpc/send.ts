import { finished } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import * as z from 'zod'
import { daemon } from '../../dialects/daemon.ts'
import { dialects } from '../../dialects/index.ts'
import type { Actor } from '../../model/access.ts'
import { type Entry, MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { isServerError, problemFrom } from '../http/problem.ts'
import { answeredWith } from '../http/request-scope.ts'
import { EventStream } from '../streams/event-stream.ts'
import { chunks, SSE, type StreamFormat, type StreamMessage, sseData } from '../streams/format.ts'
import { framedEntries } from '../streams/framed-entries.ts'
import { NoticesFlag, streamNotices } from '../streams/notices.ts'
import { projectionKey } from '../streams/projection-cache.ts'
import { begin, type StartedExchange } from './begin.ts'
import { Exchange } from './exchange.ts'
import { paramsWith, type Rpc, sessionId } from './method.ts'

export const Send = paramsWith({ sessionId, message: z.string().min(1) })
type Send = z.infer<typeof Send>

export const SendQuery = z.strictObject({
  dialect: z
    .enum([...dialects.keys()])
    .optional()
    .describe('another dialect for the same stream'),
  raw: z.literal('1').optional().describe("include the agent's native messages"),
  partial_json: z.literal('1').optional().describe('include tool input deltas'),
  ids: z.literal('1').optional().describe('add an `id:` to each message, to resume from'),
  notices: NoticesFlag,
})
type SendQuery = z.infer<typeof SendQuery>

/** Clients of this API read `data:` lines only, and some split the stream at empty lines and parse each part. */
const { comment: _, ...DATA_ONLY }: StreamFormat = { ...SSE, notice: sseData }
const WITH_IDS: StreamFormat = { ...DATA_ONLY, keepalive: sseData({ type: 'ping' }), steady: true }
const FORMAT: StreamFormat = { ...WITH_IDS, write: ({ message }) => sseData(message) }
const DONE = 'data: [DONE]\n\n'

/** Streams one exchange. It always ends with `[DONE]`; a client that disconnects cancels nothing. */
export async function send(
  rpc: Rpc,
  actor: Actor,
  params: Send,
  query: SendQuery,
  reply: FastifyReply,
): Promise<void> {
  const { deps, clients } = rpc
  reply.hijack()
  const timing = { ...deps.timing, keepaliveMs: deps.timing.pingMs }
  const notices = streamNotices(deps.storage, FORMAT, query.notices)
  const stream = new EventStream(reply.raw, FORMAT, {}, timing, notices)
  let delivered: (() => Promise<void>) | undefined
  try {
    delivered = await listen(rpc, actor, params, query, stream)
  } catch (thrown) {
    const problem = problemFrom(thrown)
    if (isServerError(problem)) deps.report(thrown)
    const { code, detail: message } = answeredWith(problem)
    await stream.write(sseData({ type: 'error', message, code }))
  }
  await stream.write(DONE)
  stream.end()
  const whole = await finished(reply.raw).then(
    () => true,
    () => false,
  )
  if (!whole) clients.cutOff(params.sessionId)
  if (whole && delivered) await clients.recordDelivery(params.sessionId, delivered()).catch(deps.report)
}

/** Settles at the end of the exchange with the work to do after the client has received everything. */
async function listen(
  rpc: Rpc,
  actor: Actor,
  { sessionId, message }: Send,
  query: SendQuery,
  stream: EventStream,
): Promise<(() => Promise<void>) | undefined> {
  const { deps, clients } = rpc
  const leave = deps.streams.enter(actor.principal)
  try {
    const started = await begin(rpc, actor, sessionId, message)
    const detach = clients.attach(sessionId, started.turn)
    try {
      const last = await relay(rpc, started, query, stream)
      if (!last) clients.cutOff(sessionId)
      // `turn.queued` is not a response to the message.
      if (!last || last.event.type === 'turn.queued') return undefined
      const ended = last.event.type !== 'request.opened'
      return () => started.session.delivered([{ turn: started.turn, seq: last.seq, ended }])
    } finally {
      detach()
    }
  } finally {
    leave()
  }
}

/** Sends the exchange live; resolves to its last entry, or undefined when the client disconnected. */
async function relay(
  { deps, clients, cache }: Rpc,
  { session, turn, after, earliest }: StartedExchange,
  { dialect: name = daemon.id, ids, notices: __, ...options }: SendQuery,
  stream: EventStream,
): Promise<Entry | undefined> {
  const { sessions } = deps
  const dialect = dialects.get(name) ?? daemon
  const format = ids ? WITH_IDS : FORMAT
  const asked = compact(options)
  const from = earliest - 1
  const key =
    dialect === daemon ? projectionKey({ id: session.id, from, dialect, options: asked }) : undefined
  const position = cache.find(key, ({ seq }) => seq <= after)
  const exchange = new Exchange({ turn, after, dialect, options: asked, known: position?.state })
  const { signal } = stream
  const pages = sessions.follow(session.id, position?.seq ?? from, signal)
  const framing = { session: session.id, raw: options.raw !== undefined, signal }
  for await (const { entries, frames } of framedEntries(sessions, framing, pages)) {
    const messages: StreamMessage[] = []
    let last: Entry | undefined
    for (const entry of entries) {
      const projection = exchange.project(
        entry,
        entry.native === undefined ? undefined : frames?.get(entry.native),
      )
      const ends = projection.ends && !(await isAnswered(deps, entry))
      messages.push(...(ends ? projection.messages : projection.withoutEnd))
      if (projection.ends && !ends) exchange.continueExchange()
      if (!ends) continue
      last = entry
      break
    }
    for (const text of chunks(format, messages)) await stream.write(text)
    if (stream.signal.aborted) return undefined
    if (!last) continue
    if (last.event.type === 'request.opened') clients.show(session.id, last.seq)
    cache.keep(key, { seq: last.seq, state: exchange.own })
    return last
  }
  if (stream.signal.aborted) return undefined
  throw new MainstemError('session_not_found', 'the session was removed')
}

/** A question that was already answered must not be sent: the client's next message would become a prompt. */
async function isAnswered({ sessions }: GatewayDeps, { session, event }: Entry): Promise<boolean> {
  if (event.type !== 'request.opened') return false
  const open = (await sessions.record(session))?.requests ?? []
  return open.every(({ requestId }) => requestId !== event.requestId)
}

/** Drops options that were not given. */
function compact(options: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
