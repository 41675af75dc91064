import { MainstemError } from '../../model/index.ts'
import { tryJson } from '../../model/text/json.ts'
import type { Timers } from '../driver.ts'

export interface RemoteCall {
  method: string
  path: string
  body?: unknown
}

export interface RemoteAnswer {
  status: number
  /** The parsed JSON, or the text if it is not JSON. */
  body: unknown
}

/** Timeout for a response. */
const CALL_MS = 30_000

/** Responses are buffered in memory, so their size is bounded. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

export function isOk({ status }: RemoteAnswer): boolean {
  return status >= 200 && status <= 299
}

/** The HTTP client of a remote server. The token appears in the headers only. */
export class RemoteServer {
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #timers: Timers

  constructor(base: string, token: string | undefined, timers: Timers) {
    this.#base = base
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    this.#timers = timers
  }

  /** Returns every HTTP response as a value; throws only when the server does not respond. */
  async call({ method, path, body }: RemoteCall, signal: AbortSignal): Promise<RemoteAnswer> {
    const slow = new AbortController()
    const answered = new AbortController()
    const deadline = this.#timers.sleep(CALL_MS, answered.signal).then(() => slow.abort())
    try {
      const response = await fetch(this.#base + path, {
        method,
        headers: { ...this.#headers, 'content-type': 'application/json', accept: 'application/json' },
        // Following a redirect could send the prompt, and possibly the token, to another server.
        redirect: 'error',
        signal: AbortSignal.any([signal, slow.signal]),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await readText(response)
      return { status: response.status, body: tryJson(text) ?? text }
    } catch (thrown) {
      throw unanswered(`${method} ${this.#base}${path}`, thrown, slow.signal.aborted)
    } finally {
      answered.abort()
      await deadline
    }
  }

  socket(path: string): WebSocket {
    return new WebSocket(`${this.#base.replace(/^http/, 'ws')}${path}`, { headers: this.#headers })
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES)
      throw new MainstemError('protocol_error', `the response exceeds ${MAX_ANSWER_BYTES} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** `fetch` reports only that it failed; the reason is in `cause`. */
function unanswered(call: string, thrown: unknown, late: boolean): MainstemError {
  if (thrown instanceof MainstemError) return thrown
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  const why = cause instanceof Error ? cause.message || cause.name : String(cause)
  const message = late ? `no response within ${CALL_MS / 1000} seconds` : why
  return new MainstemError('connection_failed', `${call} failed: ${message}`, undefined, { cause: thrown })
}
