import { MainstemError } from '../model/index.ts'
import type { Timers } from './driver.ts'

export interface Call {
  method: string
  path: string
  body?: unknown
}

export interface Answer {
  status: number
  /** The parsed JSON, or the text where it is none. */
  body: unknown
}

/** How long an answer may take. */
const CALL_MS = 30_000

/** Answers are held in memory, so a server may not send just any amount. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

export function isOk({ status }: Answer): boolean {
  return status >= 200 && status <= 299
}

/** The HTTP side of a remote server. The token is in the headers and nowhere else. */
export class RemoteServer {
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #timers: Timers

  constructor(base: string, token: string | undefined, timers: Timers) {
    this.#base = base
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    this.#timers = timers
  }

  /** Any answer is a value; only a server that gives none is an error. */
  async call({ method, path, body }: Call, signal: AbortSignal): Promise<Answer> {
    const slow = new AbortController()
    const answered = new AbortController()
    const deadline = this.#timers.sleep(CALL_MS, answered.signal).then(() => slow.abort())
    try {
      const response = await fetch(this.#base + path, {
        method,
        headers: { ...this.#headers, 'content-type': 'application/json', accept: 'application/json' },
        // Following one would send the prompt, and maybe the token, where nobody meant it to go.
        redirect: 'error',
        signal: AbortSignal.any([signal, slow.signal]),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: parse(await readText(response)) }
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
      throw new MainstemError('protocol_error', `an answer of more than ${MAX_ANSWER_BYTES} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** `fetch` itself says only that it failed; why is in the cause. */
function unanswered(call: string, thrown: unknown, late: boolean): MainstemError {
  if (thrown instanceof MainstemError) return thrown
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  const why = cause instanceof Error ? cause.message || cause.name : String(cause)
  const message = late ? `no answer within ${CALL_MS / 1000} seconds` : why
  return new MainstemError('connection_failed', `${call} failed: ${message}`, undefined, { cause: thrown })
}
