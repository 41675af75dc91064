import { MainstemError } from '../model/index.ts'
import type { Tokens } from './scenario.ts'
import type { ScriptPosition } from './script.ts'

/** A request that the scripted model received. */
export interface RecordedRequest {
  /** The HTTP method. */
  readonly method: string
  /** The path with its query. An API key in it is redacted. */
  readonly path: string
  /** The headers. Credentials are redacted. */
  readonly headers: Readonly<Record<string, string>>
  /** The body, parsed if it is JSON, else as text. */
  readonly body: unknown
  /** When the request arrived. */
  readonly at: Date
  /** The reply that was sent; absent if the request was not a model call of a scenario. */
  readonly place?: ScriptPosition
  /** The token counts of the response; absent if the response was not complete. */
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

/** All requests so far, and the callers that wait for one. */
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
        // The error belongs to the caller that waits, not to the request.
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

  /** Rejects all waiting callers, because the server is closing. */
  end(): void {
    this.#isOver = true
    for (const { reject } of this.#waiters) reject(over())
  }
}

function over(): MainstemError {
  return new MainstemError(
    'connection_failed',
    'The scripted model was closed before a matching request arrived.',
  )
}
