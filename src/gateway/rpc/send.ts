import { finished } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { daemon } from '../../dialects/daemon.ts'
import { dialects } from '../../dialects/index.ts'
import { type Entry, MainstemError } from '../../model/index.ts'
import type { GatewayDeps } from '../deps.ts'
import { problemFrom } from '../http/problem.ts'
import { EventStream } from '../streams/event-stream.ts'
import { chunks, type Shown, SSE, type StreamFormat, sseData } from '../streams/format.ts'
import { projectionKey } from '../streams/projection-cache.ts'
import { rawFrames } from '../streams/raw-frames.ts'
import { type Begun, begin } from './begin.ts'
import { Exchange } from './exchange.ts'
import { paramsWith, type Rpc, sessionId } from './method.ts'

export const Send = paramsWith({ sessionId, message: z.string().min(1) })
type Send = z.infer<typeof Send>

export const SendQuery = z.strictObject({
  dialect: z
    .enum([...dialects.keys()])
    .optional()
    .describe('another vocabulary for the same stream'),
  raw: z.literal('1').optional().describe("the agent's own messages as well"),
  partial_json: z.literal('1').optional().describe('drafts of calls as well'),
  ids: z.literal('1').optional().describe('an `id:` with each message, to come back with'),
})
type SendQuery = z.infer<typeof SendQuery>

const WITH_IDS: StreamFormat = { ...SSE, keepalive: sseData({ type: 'ping' }), steady: true }
/** Clients of this face know `data:` lines alone, and some cut the stream at empty lines and parse what is between. */
const FORMAT: StreamFormat = { ...WITH_IDS, write: ({ message }) => sseData(message) }
const DONE = 'data: [DONE]\n\n'

/** One exchange as a stream. Whatever happens, it ends in `[DONE]`; a client that leaves stops nothing. */
export async function send(
  rpc: Rpc,
  principal: string,
  params: Send,
  query: SendQuery,
  reply: FastifyReply,
): Promise<void> {
  const { deps, clients } = rpc
  reply.hijack()
  const timing = { ...deps.timing, keepaliveMs: deps.timing.pingMs }
  const stream = new EventStream(reply.raw, FORMAT, {}, timing)
  let delivered: (() => Promise<void>) | undefined
  try {
    delivered = await listen(rpc, principal, params, query, stream)
  } catch (thrown) {
    const { code, detail: message } = problemFrom(thrown)
    if (code === 'unknown' || code === 'storage_failed') deps.report(thrown)
    await stream.write(sseData({ type: 'error', message, code }))
  }
  await stream.write(DONE)
  stream.end()
  const whole = await finished(reply.raw).then(
    () => true,
    () => false,
  )
  if (!whole) clients.cutOff(params.sessionId)
  if (whole && delivered) await clients.note(params.sessionId, delivered()).catch(deps.report)
}

/** Settles at the end of the exchange, with what is to be done once the client has it all. */
async function listen(
  rpc: Rpc,
  principal: string,
  { sessionId, message }: Send,
  query: SendQuery,
  stream: EventStream,
): Promise<(() => Promise<void>) | undefined> {
  const { deps, clients } = rpc
  const leave = deps.streams.enter(principal)
  try {
    const begun = await begin(rpc, principal, sessionId, message)
    const detach = clients.attach(sessionId, begun.turn)
    try {
      const last = await relay(rpc, begun, query, stream)
      if (!last) clients.cutOff(sessionId)
      // That a message waits is not an answer to it.
      if (!last || last.event.type === 'turn.queued') return undefined
      const ended = last.event.type !== 'request.opened'
      return () => begun.session.delivered([{ turn: begun.turn, seq: last.seq, ended }])
    } finally {
      detach()
    }
  } finally {
    leave()
  }
}

/** Sends the exchange as it comes; its last entry is the answer, or nothing when the client has left. */
async function relay(
  { deps, clients, folds }: Rpc,
  { session, turn, after, earliest }: Begun,
  { dialect: name = daemon.id, ids, ...options }: SendQuery,
  stream: EventStream,
): Promise<Entry | undefined> {
  const { sessions } = deps
  const dialect = dialects.get(name) ?? daemon
  const format = ids ? WITH_IDS : FORMAT
  const asked = compact(options)
  const from = earliest - 1
  const key =
    dialect === daemon ? projectionKey({ id: session.id, from, dialect, options: asked }) : undefined
  const place = folds.find(key, ({ seq }) => seq <= after)
  const exchange = new Exchange({ turn, after, dialect, options: asked, known: place?.state })
  // A session whose log cannot be written any more says nothing more, and its reader must not wait for it.
  const failed = new AbortController()
  session.ended(turn).catch((thrown) => failed.abort(thrown))
  const signal = AbortSignal.any([stream.signal, failed.signal])
  for await (const entries of sessions.follow(session.id, place?.seq ?? from, signal)) {
    const frames = options.raw ? await rawFrames(sessions, session.id, entries) : undefined
    const shown: Shown[] = []
    let last: Entry | undefined
    for (const entry of entries) {
      const heard = exchange.hear(entry, entry.native === undefined ? undefined : frames?.get(entry.native))
      const ends = heard.ends && !(await isAnswered(deps, entry))
      shown.push(...(ends ? heard.messages : heard.goingOn))
      if (heard.ends && !ends) exchange.goOn()
      if (!ends) continue
      last = entry
      break
    }
    for (const text of chunks(format, shown)) await stream.write(text)
    if (stream.signal.aborted) return undefined
    if (!last) continue
    if (last.event.type === 'request.opened') clients.show(session.id, last.seq)
    folds.keep(key, { seq: last.seq, state: exchange.own })
    return last
  }
  if (stream.signal.aborted) return undefined
  throw failed.signal.aborted
    ? failed.signal.reason
    : new MainstemError('session_not_found', 'the session was removed')
}

/** A question that somebody has answered already must not be asked: the next message would be taken for a prompt. */
async function isAnswered({ sessions }: GatewayDeps, { session, event }: Entry): Promise<boolean> {
  if (event.type !== 'request.opened') return false
  const open = (await sessions.record(session))?.requests ?? []
  return open.every(({ requestId }) => requestId !== event.requestId)
}

/** Options that were not given are not there. */
function compact(options: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
