import { MainstemError } from '../model/outcome/mainstem-error.ts'
import type { Timers } from './timers.ts'

/** The state of a stream at a position: complete, more items available, or no more items yet. */
export type StreamStatus = 'ended' | 'behind' | 'waiting'

/** A stream that can be read from any position, over connections that may break. */
export interface ResumableStream<Item, Position> {
  /** Opens one connection: the items after a position, in batches. It may end or break at any time. */
  connect(from: Position, signal: AbortSignal): AsyncIterable<readonly Item[]>
  /** The position after an item. */
  positionOf(item: Item): Position
  /** True if the stream may end at this position while an open connection stays silent. Then `status` is read first. */
  mayEndAt(position: Position): boolean
  /** True if this item may be the last. Then `status` is read before waiting for more. */
  mayBeLast(item: Item): boolean
  /** Asks the server for the state of the stream. */
  status(at: Position, signal: AbortSignal): Promise<StreamStatus>
  /** True if a retry may fix the error. */
  isTransient(thrown: unknown): boolean
}

/** When a stream reconnects. */
export interface RetryOptions {
  /** The most retries without a message in between; 10 by default. */
  retries?: number
  /** Milliseconds before the first retry; 200 by default. Doubles with each retry. */
  minDelayMs?: number
  /** The most milliseconds between two retries; 10,000 by default. */
  maxDelayMs?: number
  /** Milliseconds of silence after which the client checks for missed messages; 30,000 by default. */
  silenceMs?: number
}

export interface ResumeDeps {
  timers: Timers
  /** A number from 0 to 1 for jitter, so that clients that disconnected together do not reconnect together. */
  random(): number
  retry: RetryOptions
  signal: AbortSignal
}

const DEFAULTS: Required<RetryOptions> = {
  retries: 10,
  minDelayMs: 200,
  maxDelayMs: 10_000,
  silenceMs: 30_000,
}

/** Streams all items after a position, each once and in order. Reconnects as often as needed. */
export async function* resume<Item, Position>(
  stream: ResumableStream<Item, Position>,
  from: Position,
  deps: ResumeDeps,
): AsyncGenerator<Item, void, void> {
  const { timers, random, signal } = deps
  const retry = { ...DEFAULTS, ...deps.retry }
  let position = from
  let failures = 0
  let mayHaveEnded = stream.mayEndAt(from)
  for (;;) {
    signal.throwIfAborted()
    let thrown: unknown
    let received = false
    try {
      // After a disconnect behind the last item, a new connection would only be silent.
      if (mayHaveEnded && (await stream.status(position, signal)) === 'ended') return
      const found = { end: false }
      for await (const item of oneConnection(stream, position, deps, retry.silenceMs, found)) {
        position = stream.positionOf(item)
        failures = 0
        received = true
        mayHaveEnded = stream.mayBeLast(item)
        yield item
      }
      if (found.end) return
    } catch (error) {
      if (signal.aborted || !stream.isTransient(error)) throw error
      thrown = error
    }
    try {
      // Some connections end without a reason: the session may not exist, or may be complete. A connection that broke
      // after some items needs no check.
      const wasCut = received && thrown !== undefined
      if (!wasCut && (await stream.status(position, signal)) === 'ended') return
    } catch (error) {
      if (signal.aborted || !stream.isTransient(error)) throw error
      thrown = error
    }
    if (failures >= retry.retries)
      throw (
        thrown ?? new MainstemError('connection_failed', 'the connection ended repeatedly without a message')
      )
    const delay = Math.min(retry.maxDelayMs, retry.minDelayMs * 2 ** failures)
    failures++
    await timers.sleep(delay * (0.5 + random() / 2), signal)
  }
}

/** Milliseconds to wait for more items after one that may be the last. In a replay they follow sooner. */
const LAST_MS = 50

/** One connection. Ends when it is silent at the end of the stream, or although the server has more items. */
async function* oneConnection<Item, Position>(
  stream: ResumableStream<Item, Position>,
  from: Position,
  { timers, signal }: ResumeDeps,
  silenceMs: number,
  found: { end: boolean },
): AsyncGenerator<Item, void, void> {
  const left = new AbortController()
  const batches = stream.connect(from, AbortSignal.any([signal, left.signal]))[Symbol.asyncIterator]()
  let position = from
  let wasLast = false
  try {
    for (;;) {
      const next = batches.next()
      // Awaited below or abandoned; its rejection must not be unhandled.
      next.catch((thrown: unknown) => thrown)
      while ((await silence(next, wasLast ? LAST_MS : silenceMs, timers)) === 'silent') {
        const status = await stream.status(position, signal)
        found.end = status === 'ended'
        // More items after a short silence are on their way; after a long one the connection is dead.
        if (found.end || (status === 'behind' && !wasLast)) return
        wasLast = false
      }
      const { value, done } = await next
      if (done) return
      for (const item of value) {
        position = stream.positionOf(item)
        wasLast = stream.mayBeLast(item)
        yield item
      }
    }
  } finally {
    left.abort()
    // An aborted connection may reject; its items are no longer needed.
    await batches.return?.().catch((thrown: unknown) => thrown)
  }
}

async function silence(next: Promise<unknown>, ms: number, timers: Timers): Promise<'silent' | 'received'> {
  const received = new AbortController()
  const settled = next.then(
    () => 'received' as const,
    () => 'received' as const,
  )
  const waited = timers.sleep(ms, received.signal).then(() => 'silent' as const)
  try {
    return await Promise.race([settled, waited])
  } finally {
    received.abort()
  }
}
