import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { encodeSse } from '../framing/sse.ts'
import { type Api, type ModelProblem, type ModelReply, type ModelStreamMessage, pieces } from './apis/api.ts'
import type { Fault } from './scenario.ts'

/** A response to send, with its fault. */
export interface ModelDelivery {
  readonly api: Api
  readonly emitted: ModelReply
  readonly streaming: boolean
  readonly fault?: Fault
  readonly paceMs?: number
  /** Resolves when a stall is released. */
  readonly released: Promise<void>
  /** Aborted when the client has disconnected. */
  readonly gone: AbortSignal
}

/** What a scenario adds to a refusal. */
interface RefusalDetails {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A fault during the response, after the status. */
type StreamFault = Exclude<Fault, { readonly kind: 'status' }>

interface ModelChunk {
  readonly text: string
  /** True if it contains output of the model. */
  readonly isPiece: boolean
}

export async function deliver(response: ServerResponse, delivery: ModelDelivery): Promise<void> {
  const { api, emitted, streaming, fault, paceMs, gone } = delivery
  if (fault?.kind === 'status') {
    const { status, message = `The script answers with ${status}.`, retryAfterSeconds, headers, body } = fault
    const retry = retryAfterSeconds !== undefined && { retryAfterSeconds }
    return refuse(response, api, { status, message, ...retry }, { body, headers })
  }
  // A response without a stream can report a failure only by its status.
  if (fault?.kind === 'error' && !streaming) {
    return refuse(response, api, { status: 500, message: fault.message ?? FAILED })
  }
  const chunks = streaming ? api.stream(emitted).map(framed) : halves(json(api.whole(emitted)))
  if (fault && isBeforeHeaders(fault) && (await strike(response, delivery, fault)) === 'ended') return
  response.writeHead(200, { 'content-type': streaming ? 'text/event-stream' : 'application/json' })
  const faultIndex = fault && !isBeforeHeaders(fault) ? indexOf(fault, chunks) : undefined
  for (const [index, chunk] of chunks.entries()) {
    if (fault && index === faultIndex && (await strike(response, delivery, fault, chunk)) === 'ended') return
    if (!response.write(chunk.text)) await once(response, 'drain', { signal: gone })
    if (!chunk.isPiece) continue
    // Sends pieces separately even without a pace, because writes in one tick may arrive as one chunk.
    if (paceMs === undefined) await setImmediate(undefined, { signal: gone })
    else await setTimeout(paceMs, undefined, { signal: gone })
  }
  response.end()
}

export function refuse(
  response: ServerResponse,
  api: Api,
  problem: ModelProblem,
  { body, headers = {} }: RefusalDetails = {},
): void {
  const { status, retryAfterSeconds } = problem
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  })
  response.end(json(body ?? api.problem(problem)))
}

function framed({ event, data, isPiece = false }: ModelStreamMessage): ModelChunk {
  const text = typeof data === 'string' ? data : json(data)
  return { text: encodeSse({ ...(event !== undefined && { event }), data: text }), isPiece }
}

/** Splits the body in two, so that a fault can happen in the middle. */
function halves(body: string): ModelChunk[] {
  const [first = '', second = ''] = pieces(body, 2)
  return [
    { text: first, isPiece: true },
    { text: second, isPiece: false },
  ]
}

/** Escapes two separators as the vendors do, because some programs treat them as line ends. */
function json(value: unknown): string {
  return JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

const FAILED = 'The script fails here.'

function isBeforeHeaders({ kind, after }: StreamFault): boolean {
  return after === 0 && (kind === 'drop' || kind === 'stall')
}

/** The index of the chunk before which the fault happens. */
function indexOf({ after = 1 }: StreamFault, chunks: readonly ModelChunk[]): number {
  let place = 0
  let passed = 0
  for (const [index, { isPiece }] of chunks.entries()) {
    if (!isPiece || passed === after) continue
    passed++
    place = index + 1
  }
  return place
}

/** Executes the fault before the chunk. */
async function strike(
  response: ServerResponse,
  { api, emitted, released, gone }: ModelDelivery,
  fault: StreamFault,
  chunk?: ModelChunk,
): Promise<'continue' | 'ended'> {
  switch (fault.kind) {
    case 'drop':
      response.destroy()
      return 'ended'
    case 'truncate':
      response.end()
      return 'ended'
    case 'garble':
      response.write(garbled(chunk?.text ?? ''))
      return 'continue'
    case 'error':
      response.end(framed(api.failure(emitted, fault.message ?? FAILED)).text)
      return 'ended'
    case 'stall': {
      gone.throwIfAborted()
      const time = fault.ms === undefined ? [] : [setTimeout(fault.ms, undefined, { signal: gone })]
      await Promise.race([released, once(gone, 'abort'), ...time])
      gone.throwIfAborted()
      return 'continue'
    }
    default:
      return fault satisfies never
  }
}

/** Cuts the end of a message, so that it is not JSON. */
function garbled(text: string): string {
  return `${text.trimEnd().slice(0, -2)}\n\n`
}
