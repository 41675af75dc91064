import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { encodeSse } from '../framing/sse.ts'
import { type Api, type Emitted, type Problem, pieces, type StreamMessage } from './apis/api.ts'
import type { Fault } from './scenario.ts'

/** An answer on its way, and what may happen to it. */
export interface Delivery {
  readonly api: Api
  readonly said: Emitted
  readonly streaming: boolean
  readonly fault?: Fault
  readonly paceMs?: number
  /** Settles when a stall is released. */
  readonly released: Promise<void>
  /** Fires when nobody takes the answer any more. */
  readonly gone: AbortSignal
}

/** What can happen to an answer after it was not refused outright. */
type Mishap = Exclude<Fault, { readonly kind: 'status' }>

interface Chunk {
  readonly text: string
  /** It brings a piece of what the model says. */
  readonly isPiece: boolean
}

export async function deliver(response: ServerResponse, delivery: Delivery): Promise<void> {
  const { api, said, streaming, fault, paceMs, gone } = delivery
  if (fault?.kind === 'status') {
    const { status, message = `The script answers with ${status}.`, retryAfterSeconds, body } = fault
    const retry = retryAfterSeconds !== undefined && { retryAfterSeconds }
    return refuse(response, api, { status, message, ...retry }, body)
  }
  // An answer that is no stream can tell of a failure by its status only.
  if (fault?.kind === 'error' && !streaming) {
    return refuse(response, api, { status: 500, message: fault.message ?? FAILED })
  }
  const chunks = streaming ? api.stream(said).map(framed) : halves(json(api.whole(said)))
  if (fault && isBeforeHeaders(fault) && (await strike(response, delivery, fault)) === 'over') return
  response.writeHead(200, { 'content-type': streaming ? 'text/event-stream' : 'application/json' })
  const place = fault && !isBeforeHeaders(fault) ? placeOf(fault, chunks) : undefined
  for (const [index, chunk] of chunks.entries()) {
    if (fault && index === place && (await strike(response, delivery, fault, chunk)) === 'over') return
    if (!response.write(chunk.text)) await once(response, 'drain', { signal: gone })
    if (!chunk.isPiece) continue
    // Pieces leave one by one even without a pace: what is written in one go may arrive as one.
    if (paceMs === undefined) await setImmediate(undefined, { signal: gone })
    else await setTimeout(paceMs, undefined, { signal: gone })
  }
  response.end()
}

export function refuse(response: ServerResponse, api: Api, problem: Problem, body?: unknown): void {
  const { status, retryAfterSeconds } = problem
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  })
  response.end(json(body ?? api.problem(problem)))
}

function framed({ event, data, isPiece = false }: StreamMessage): Chunk {
  const text = typeof data === 'string' ? data : json(data)
  return { text: encodeSse({ ...(event !== undefined && { event }), data: text }), isPiece }
}

/** In two, so that a fault has a middle to happen in. */
function halves(body: string): Chunk[] {
  const [first = '', second = ''] = pieces(body, 2)
  return [
    { text: first, isPiece: true },
    { text: second, isPiece: false },
  ]
}

/** Escaped as vendors do it: some programs take these two for the end of a line. */
function json(value: unknown): string {
  return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

const FAILED = 'The script fails here.'

function isBeforeHeaders({ kind, after }: Mishap): boolean {
  return after === 0 && (kind === 'drop' || kind === 'stall')
}

/** The index of the chunk in front of which it happens: behind as many pieces as it wants, or as there are. */
function placeOf({ after = 1 }: Mishap, chunks: readonly Chunk[]): number {
  let place = 0
  let passed = 0
  for (const [index, { isPiece }] of chunks.entries()) {
    if (!isPiece || passed === after) continue
    passed++
    place = index + 1
  }
  return place
}

/** Lets it happen, in front of the chunk. */
async function strike(
  response: ServerResponse,
  { api, said, released, gone }: Delivery,
  mishap: Mishap,
  chunk?: Chunk,
): Promise<'go on' | 'over'> {
  switch (mishap.kind) {
    case 'drop':
      response.destroy()
      return 'over'
    case 'truncate':
      response.end()
      return 'over'
    case 'garble':
      response.write(garbled(chunk?.text ?? ''))
      return 'go on'
    case 'error':
      response.end(framed(api.failure(said, mishap.message ?? FAILED)).text)
      return 'over'
    case 'stall': {
      gone.throwIfAborted()
      const time = mishap.ms === undefined ? [] : [setTimeout(mishap.ms, undefined, { signal: gone })]
      await Promise.race([released, once(gone, 'abort'), ...time])
      gone.throwIfAborted()
      return 'go on'
    }
    default:
      return mishap satisfies never
  }
}

/** The same text with its end cut off: it stays one message, and is no JSON. */
function garbled(text: string): string {
  return `${text.trimEnd().slice(0, -2)}\n\n`
}
