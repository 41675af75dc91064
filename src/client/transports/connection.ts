import type { ErrorCode } from '../../model/index.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { boundedText } from '../bounded-text.ts'
import { isErrorCode, STATUSES } from '../errors/error-codes.ts'

/** How to reach a server. */
export interface ConnectionOptions {
  /** The URL of the server; `http://127.0.0.1:7380` by default. A WebSocket URL selects the same server. */
  baseUrl?: string
  /** The token of the server. Sent only in a header, never in a URL. */
  token?: string
  /** The kind of client, which the log shows beside its answers; `api` by default. The server does not verify it. */
  client?: 'page' | 'terminal' | 'api'
  /** Replaces the `fetch` of the platform. */
  fetch?: (url: string, init: RequestInit) => Promise<HttpResponse>
}

/** The part of a `Response` that the client reads. */
export interface HttpResponse extends Pick<Response, 'ok' | 'status' | 'body' | 'text'> {
  /** The headers of the response. */
  headers: Pick<Headers, 'get'>
}

export interface ClientCall {
  /** Sent as JSON. */
  body?: unknown
  /** Sent as it is, instead of `body`. */
  raw?: { type: string; body: ReadableStream<Uint8Array> | Blob | string } | undefined
  headers?: Readonly<Record<string, string>>
  idempotencyKey?: string | undefined
  signal?: AbortSignal | undefined
}

const DEFAULT_URL = 'http://127.0.0.1:7380'

/** The time limit of a call. Streams have none. */
const CALL_MS = 30_000

/** Calls one server. Rejects with a `MainstemError` if the server refuses a call. */
export class ClientConnection {
  readonly #base: string
  readonly #token: string | undefined
  readonly #client: ConnectionOptions['client']
  readonly #fetch: NonNullable<ConnectionOptions['fetch']>

  constructor({ baseUrl = DEFAULT_URL, token, client, fetch = globalThis.fetch }: ConnectionOptions) {
    this.#base = baseUrl.replace(/^ws/, 'http').replace(/\/+$/, '')
    this.#token = token
    this.#client = client
    // Browsers throw if their `fetch` is called as a method of another object.
    this.#fetch = (url, init) => fetch(url, init)
  }

  get hasToken(): boolean {
    return this.#token !== undefined
  }

  /** The URL of a WebSocket on the same server. */
  socketUrl(path: string): string {
    return `${this.#base.replace(/^http/, 'ws')}${path}`
  }

  /** Calls a route that responds with JSON. */
  async json(route: string, call: ClientCall = {}): Promise<unknown> {
    return (await this.call(route, call)).body
  }

  /** Like `json`, with the headers of the response. */
  async call(route: string, call: ClientCall): Promise<{ body: unknown; headers: HttpResponse['headers'] }> {
    const slow = AbortSignal.timeout(CALL_MS)
    const signal = call.signal ? AbortSignal.any([call.signal, slow]) : slow
    const response = await this.open(route, { ...call, signal })
    try {
      const text = await boundedText(response)
      return { body: text === '' ? undefined : JSON.parse(text), headers: response.headers }
    } catch (cause) {
      throw call.signal?.aborted ? cause : failureOf(cause)
    }
  }

  /** Calls a route such as `GET /v1/agents`. Resolves when the headers of the response have arrived. */
  async open(
    route: string,
    { body, raw, headers, idempotencyKey, signal }: ClientCall,
  ): Promise<HttpResponse> {
    const [method = 'GET', path = ''] = route.split(' ')
    const response = await this.#send(this.#base + path, {
      method,
      headers: {
        accept: 'application/json',
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        ...(this.#client !== undefined && { 'x-mainstem-client': this.#client }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(raw && { 'content-type': raw.type }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // A stream is sent without waiting for the response, which `fetch` wants to be told.
      ...(raw && { body: raw.body, duplex: 'half' }),
      ...(signal && { signal }),
    })
    if (!response.ok) throw await refusalOf(response)
    return response
  }

  async #send(url: string, init: RequestInit): Promise<HttpResponse> {
    try {
      return await this.#fetch(url, init)
    } catch (cause) {
      throw init.signal?.aborted && !isTimeout(cause) ? cause : failureOf(cause, url.split('?', 1)[0])
    }
  }
}

function isTimeout(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'TimeoutError'
}

/** The error of a call without a complete response. */
export function failureOf(cause: unknown, url?: string): MainstemError {
  // The stdio transport's `fetch` already throws our errors.
  if (cause instanceof MainstemError) return cause
  const [code, what]: [ErrorCode, string] = isTimeout(cause)
    ? ['timeout', 'the server did not respond in time']
    : cause instanceof SyntaxError
      ? ['protocol_error', 'the response of the server is not JSON']
      : ['connection_failed', url === undefined ? 'the connection broke' : `${url} cannot be reached`]
  const why = reasonOf(cause)
  return new MainstemError(code, `${what}: ${why}`, undefined, { cause })
}

/** The reason of a failure. `fetch` of Node has it in the cause. */
function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || ('code' in cause ? String(cause.code) : cause.name)
}

async function refusalOf(response: HttpResponse): Promise<MainstemError> {
  const { status } = response
  const text = await boundedText(response).catch((thrown: unknown) => String(thrown))
  return problemError(text, status)
}

/** The error in a problem, as a response or at the end of a stream. */
export function problemError(text: string, status?: number): MainstemError {
  const problem = problemIn(text)
  const known = status === undefined ? undefined : STATUSES.get(status)
  const code = isErrorCode(problem.code) ? problem.code : (known ?? 'unknown')
  const message = [problem.detail, problem.message, problem.error].find((one) => typeof one === 'string')
  const otherwise =
    status === undefined ? 'the stream failed' : `the server responded with HTTP status ${status}`
  return new MainstemError(code, message ?? otherwise, {
    ...problem,
    ...(status !== undefined && { status }),
  })
}

/** Whether the server cannot write the log of the session. Reading again does not help until it can. */
export function isUnwritable(thrown: unknown): boolean {
  return thrown instanceof MainstemError && thrown.details?.unwritable === true
}

function problemIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** Errors that a retry may fix. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set([
  'connection_failed',
  'timeout',
  'overloaded',
  'draining',
  'fenced',
  'storage_failed',
])

/** Whether the same call may succeed later. */
export function isTransient(thrown: unknown): boolean {
  return thrown instanceof MainstemError && TRANSIENT.has(thrown.code) && !isUnwritable(thrown)
}
