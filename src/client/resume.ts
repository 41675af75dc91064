import { MainstemError } from '../model/mainstem-error.ts'
import type { Timers } from './timers.ts'

/** Where a reader stands with what it follows: nothing will come, something is there, nothing is there yet. */
export type Standing = 'over' | 'behind' | 'waiting'

/** Something that can be read from any place on, over connections that break. */
export interface Followed<Item, Place> {
  /** One connection: what comes after a place, in batches. It may end or break at any time. */
  connect(from: Place, signal: AbortSignal): AsyncIterable<readonly Item[]>
  placeOf(item: Item): Place
  /** Whether the log may end at this place and an open connection would stay silent: the server is asked first. */
  mayEndAt(place: Place): boolean
  /** May this be the last there is? Then somebody asks before waiting for more. */
  mayBeLast(item: Item): boolean
  standing(at: Place, signal: AbortSignal): Promise<Standing>
  /** Is it worth another try? */
  passes(thrown: unknown): boolean
}

export interface RetryOptions {
  /** How often to try again without a single message in between; 10 unless it is said. */
  retries?: number
  /** The pause before the second try, doubled each time up to `maxDelayMs`. */
  minDelayMs?: number
  maxDelayMs?: number
  /** Silence after which the server is asked whether the connection still holds. */
  silenceMs?: number
}

export interface ResumeDeps {
  timers: Timers
  /** From 0 to 1: keeps readers that were cut off together from coming back together. */
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

/** Everything after a place, each once and in order, over as many connections as it takes. */
export async function* resume<Item, Place>(
  followed: Followed<Item, Place>,
  from: Place,
  deps: ResumeDeps,
): AsyncGenerator<Item, void, void> {
  const { timers, random, signal } = deps
  const retry = { ...DEFAULTS, ...deps.retry }
  let place = from
  let failures = 0
  let mayBeOver = followed.mayEndAt(from)
  for (;;) {
    signal.throwIfAborted()
    let thrown: unknown
    let heard = false
    try {
      // Cut off between the end and the answer that it was the end: a new connection would only be silent.
      if (mayBeOver && (await followed.standing(place, signal)) === 'over') return
      for await (const item of oneConnection(followed, place, deps, retry.silenceMs)) {
        place = followed.placeOf(item)
        failures = 0
        heard = true
        mayBeOver = followed.mayBeLast(item)
        yield item
        if (mayBeOver && (await followed.standing(place, signal)) === 'over') return
      }
    } catch (error) {
      if (signal.aborted || !followed.passes(error)) throw error
      thrown = error
    }
    try {
      // Some connections cannot say why they end: that there is no such thing, or that all was said.
      // One that broke in the middle needs no reason.
      const wasCut = heard && thrown !== undefined
      if (!wasCut && (await followed.standing(place, signal)) === 'over') return
    } catch (error) {
      if (signal.aborted || !followed.passes(error)) throw error
      thrown = error
    }
    if (failures >= retry.retries)
      throw thrown ?? new MainstemError('connection_failed', 'the connection ends again and again')
    const delay = Math.min(retry.maxDelayMs, retry.minDelayMs * 2 ** failures)
    failures++
    await timers.sleep(delay * (0.5 + random() / 2), signal)
  }
}

/** One connection, left when it is silent although there is more. */
async function* oneConnection<Item, Place>(
  followed: Followed<Item, Place>,
  from: Place,
  { timers, signal }: ResumeDeps,
  silenceMs: number,
): AsyncGenerator<Item, void, void> {
  const left = new AbortController()
  const batches = followed.connect(from, AbortSignal.any([signal, left.signal]))[Symbol.asyncIterator]()
  let place = from
  try {
    for (;;) {
      const next = batches.next()
      // Read again below, or left for good: either way nobody else hears of its failure.
      next.catch((thrown: unknown) => thrown)
      while ((await silence(next, silenceMs, timers)) === 'silent') {
        if ((await followed.standing(place, signal)) !== 'waiting') return
      }
      const { value, done } = await next
      if (done) return
      for (const item of value) {
        place = followed.placeOf(item)
        yield item
      }
    }
  } finally {
    left.abort()
    // What was cut off may say so; it has been read as far as anybody wants.
    await batches.return?.().catch((thrown: unknown) => thrown)
  }
}

async function silence(next: Promise<unknown>, ms: number, timers: Timers): Promise<'silent' | 'heard'> {
  const heard = new AbortController()
  const settled = next.then(
    () => 'heard' as const,
    () => 'heard' as const,
  )
  const waited = timers.sleep(ms, heard.signal).then(() => 'silent' as const)
  try {
    return await Promise.race([settled, waited])
  } finally {
    heard.abort()
  }
}
