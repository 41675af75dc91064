import type { ErrorCode } from '../model/index.ts'
import { MainstemError } from '../model/mainstem-error.ts'
import { isErrorCode, STATUSES } from './error-codes.ts'

export interface ConnectionOptions {
  /** Where the server is; `http://127.0.0.1:7380` unless it is said. A WebSocket address means the same place. */
  baseUrl?: string
  /** Sent in a header and nowhere else. */
  token?: string
  /** How calls are made, where the platform's own way will not do. */
  fetch?: (url: string, init: RequestInit) => Promise<HttpResponse>
}

/** The part of a `Response` that the client reads. */
export interface HttpResponse extends Pick<Response, 'ok' | 'status' | 'body' | 'text'> {
  headers: Pick<Headers, 'get'>
}

export interface Call {
  body?: unknown
  headers?: Readonly<Record<string, string>>
  idempotencyKey?: string | undefined
  signal?: AbortSignal | undefined
}

const DEFAULT_URL = 'http://127.0.0.1:7380'

/** How long an answer may take. A stream that is open is not waited for. */
const CALL_MS = 30_000

/** One server, and how it is called. Whatever it refuses is an error with one of our codes. */
export class Connection {
  readonly #base: string
  readonly #token: string | undefined
  readonly #fetch: NonNullable<ConnectionOptions['fetch']>

  constructor({ baseUrl = DEFAULT_URL, token, fetch = globalThis.fetch }: ConnectionOptions) {
    this.#base = baseUrl.replace(/^ws/, 'http').replace(/\/+$/, '')
    this.#token = token
    // Browsers refuse a call of their own `fetch` as a method of something else.
    this.#fetch = (url, init) => fetch(url, init)
  }

  get hasToken(): boolean {
    return this.#token !== undefined
  }

  /** The address of a WebSocket on the same server. */
  socketUrl(path: string): string {
    return `${this.#base.replace(/^http/, 'ws')}${path}`
  }

  /** Calls a route that answers with JSON. */
  async json(route: string, call: Call = {}): Promise<unknown> {
    const slow = AbortSignal.timeout(CALL_MS)
    const signal = call.signal ? AbortSignal.any([call.signal, slow]) : slow
    const response = await this.open(route, { ...call, signal })
    try {
      const text = await response.text()
      return text === '' ? undefined : JSON.parse(text)
    } catch (cause) {
      throw call.signal?.aborted ? cause : failureOf(cause)
    }
  }

  /** Calls a route, `GET /v1/agents`, and gives the answer once its headers are there. */
  async open(route: string, { body, headers, idempotencyKey, signal }: Call): Promise<HttpResponse> {
    const [method = 'GET', path = ''] = route.split(' ')
    const response = await this.#send(this.#base + path, {
      method,
      headers: {
        accept: 'application/json',
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
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

/** Nobody answered, or not to the end. */
export function failureOf(cause: unknown, url?: string): MainstemError {
  // A `fetch` of ours, over a process, knows the reason already.
  if (cause instanceof MainstemError) return cause
  const [code, what]: [ErrorCode, string] = isTimeout(cause)
    ? ['timeout', 'the server took too long']
    : cause instanceof SyntaxError
      ? ['protocol_error', 'the server did not answer with JSON']
      : ['connection_failed', url === undefined ? 'the connection broke' : `${url} cannot be reached`]
  const why = reasonOf(cause)
  return new MainstemError(code, `${what}: ${why}`, undefined, { cause })
}

/** `fetch` of Node says only that it failed; the reason is in the cause. */
function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || ('code' in cause ? String(cause.code) : cause.name)
}

async function refusalOf(response: HttpResponse): Promise<MainstemError> {
  const { status } = response
  const text = await response.text().catch((thrown: unknown) => String(thrown))
  const problem = problemIn(text)
  const code = isErrorCode(problem.code) ? problem.code : (STATUSES.get(status) ?? 'unknown')
  const told = [problem.detail, problem.message, problem.error].find((one) => typeof one === 'string')
  return new MainstemError(code, told ?? `the server answered with ${status}`, { ...problem, status })
}

function problemIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
