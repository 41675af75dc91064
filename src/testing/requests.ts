import { MainstemError } from '../model/index.ts'
import type { Tokens } from './scenario.ts'
import type { Place } from './script.ts'

/** A request as it came in. */
export interface RecordedRequest {
  readonly method: string
  /** With the query, without a key in it. */
  readonly path: string
  /** Values of headers that carry credentials are replaced. */
  readonly headers: Readonly<Record<string, string>>
  /** Parsed where it is JSON, else as text. */
  readonly body: unknown
  readonly at: Date
  /** What it was answered with; absent when it was no model call of a scenario. */
  readonly place?: Place
  /** Token counts that the answer reports; absent when no complete answer was scripted for the request. */
  readonly usage?: Tokens
}

const SECRET = new Set([
  'api-key',
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
  'x-goog-api-key',
])
const REPLACED = '<redacted>'

export function withoutSecrets(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const safe: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) safe[name] = SECRET.has(name) ? REPLACED : String(value)
  }
  return safe
}

export function withoutKey(url: URL): string {
  const safe = new URL(url)
  if (safe.searchParams.has('key')) safe.searchParams.set('key', REPLACED)
  return safe.pathname + safe.search
}

interface Waiter {
  readonly matches: (request: RecordedRequest) => boolean
  readonly resolve: (request: RecordedRequest) => void
  readonly reject: (reason: unknown) => void
}

/** Every request so far, and those who wait for one. */
export class Requests {
  readonly all: RecordedRequest[] = []
  readonly #waiters = new Set<Waiter>()
  #isOver = false

  add(request: RecordedRequest): void {
    this.all.push(request)
    for (const { matches, resolve, reject } of this.#waiters) {
      try {
        if (matches(request)) resolve(request)
      } catch (thrown) {
        // It belongs to whoever waits, not to the one who asked.
        reject(thrown)
      }
    }
  }

  async waitFor(matches: Waiter['matches'], signal?: AbortSignal): Promise<RecordedRequest> {
    signal?.throwIfAborted()
    const found = this.all.find(matches)
    if (found) return found
    if (this.#isOver) throw over()
    const { promise, resolve, reject } = Promise.withResolvers<RecordedRequest>()
    const waiter = { matches, resolve, reject }
    const abort = () => reject(signal?.reason)
    this.#waiters.add(waiter)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      return await promise
    } finally {
      this.#waiters.delete(waiter)
      signal?.removeEventListener('abort', abort)
    }
  }

  /** No request will come any more. */
  end(): void {
    this.#isOver = true
    for (const { reject } of this.#waiters) reject(over())
  }
}

function over(): MainstemError {
  return new MainstemError('connection_failed', 'The scripted model was closed before such a request came.')
}
