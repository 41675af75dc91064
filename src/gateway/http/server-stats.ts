import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../model/index.ts'
import { Latency } from '../../reading/latency.ts'
import { addressOf } from './actor.ts'
import { type RequestScope, runInScope, scopeOf } from './request-scope.ts'

/** One line of the access log. */
export interface AccessLine extends RequestScope {
  time: string
  status: number
  /** Of the error that was sent, also where the status is that of a stream or of JSON-RPC. */
  code?: ErrorCode
  ms: number
  client?: string
  /** Absent over the unix socket. */
  address?: string
}

/** What a server counts since its start, for its metrics. */
export class ServerStats {
  /** Requests by the first digit of their status, without streams. */
  readonly requests = new Latency()
  readonly statuses = new Map<string, number>()
  /** From an entry to its message, for entries that arrived while a stream was open. */
  readonly deliveries = new Latency()

  /** Returns what observes the deliveries of one stream, by the time of the last entry that was written. */
  delivery(): (at: number | undefined) => void {
    const opened = Date.now()
    return (at) => {
      if (at !== undefined && at >= opened) this.deliveries.observe(Date.now() - at)
    }
  }

  finished(status: number, ms: number, isOpenEnded: boolean): void {
    // An open WebSocket is a success that took as long as it was open.
    const kind = status === 101 ? '2xx' : `${Math.floor(status / 100)}xx`
    this.statuses.set(kind, (this.statuses.get(kind) ?? 0) + 1)
    if (!isOpenEnded) this.requests.observe(ms)
  }
}

const REQUEST_ID = /^[\w.:-]{1,128}$/

/** The id of the caller, or of the proxy before it; a new one where it is missing or not safe in a log. */
export function requestIdOf({ headers }: Pick<FastifyRequest['raw'], 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** Gives every response the id of its request, counts it, and writes it to the access log. */
export function observeRequests(
  app: FastifyInstance,
  stats: ServerStats,
  access: ((line: AccessLine) => void) | undefined,
): void {
  app.addHook('onRequest', (request, { raw }, next) => {
    const began = performance.now()
    let codeOf: ReturnType<typeof runInScope> | undefined
    // On the raw response: streams write their head themselves, and end without a hook.
    raw.setHeader('x-request-id', request.id)
    raw.once('close', () => {
      const ms = performance.now() - began
      // The upgrade bypasses this response, which keeps its first status.
      const status = request.ws && raw.statusCode === 200 ? 101 : raw.statusCode
      stats.finished(status, ms, isOpenEnded(request, raw))
      access?.(lineOf(request, status, ms, codeOf?.()))
    })
    codeOf = runInScope(request, next)
  })
}

/** A WebSocket, a stream, or a request that waits for the next event: it takes as long as the agent does. */
function isOpenEnded({ ws, url }: FastifyRequest, raw: ServerResponse): boolean {
  if (ws || /[?&]wait=/.test(url)) return true
  // Headers that were given to `writeHead` cannot be read again, so a stream is known by what it asked for.
  return /event-stream|ndjson/.test(String(raw.getHeader('content-type') ?? raw.req.headers.accept ?? ''))
}

function lineOf(
  request: FastifyRequest,
  status: number,
  ms: number,
  code: ErrorCode | undefined,
): AccessLine {
  const { headers } = request
  const address = addressOf(request)
  const client = headers['x-mainstem-client']
  return {
    time: new Date().toISOString(),
    ...scopeOf(request),
    status,
    ...(code !== undefined && { code }),
    ms: Math.round(ms * 10) / 10,
    ...(typeof client === 'string' && { client: client.slice(0, 20) }),
    ...(address !== undefined && { address }),
  }
}
