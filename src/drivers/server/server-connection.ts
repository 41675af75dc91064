import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import type { Write } from '../../agents/agent.ts'
import { type Frame, jsonFrame } from '../../framing/frame.ts'
import { MainstemError } from '../../model/index.ts'

export type ServerCall = Extract<Write, { kind: 'http' }>

export interface ServerAnswer {
  status: number
  /** The response body; empty when there is none. */
  text: string
}

const MAX_ANSWER_CHARS = 16 * 1024 * 1024

/**
 * HTTP client for a server on this machine only: no proxy and no redirect can lead elsewhere. Each request opens its
 * own connection, because a kept-alive one may close just as it is reused.
 */
export class ServerConnection {
  readonly #setup: RequestOptions

  /** `auth` is `user:password`; aborting the signal closes all connections. */
  constructor(port: number, auth: string, signal: AbortSignal) {
    this.#setup = { host: '127.0.0.1', port, auth, signal, agent: false }
  }

  /** Returns the chunks of an event stream, with backpressure. `absent` explains a server without that stream. */
  async stream(path: string, absent?: string): Promise<AsyncIterable<string>> {
    const response = await this.#send({ path, headers: { accept: 'text/event-stream' } })
    const type = response.headers['content-type'] ?? 'no content type'
    if (response.statusCode === 200 && type.startsWith('text/event-stream')) {
      return response.setEncoding('utf8')
    }
    response.destroy()
    if (response.statusCode === 503)
      throw new MainstemError('overloaded', `GET ${path}: the server is starting`)
    const isAbsent = response.statusCode === 404 || type.startsWith('text/html')
    const why = isAbsent && absent !== undefined ? `: ${absent}` : ''
    throw failed(`GET ${path} returned ${response.statusCode} (${type}) instead of an event stream${why}`)
  }

  /** `begin` is called when the server is connected, immediately before it gets the call. */
  async call({ method, path, body }: ServerCall, begin: () => void): Promise<ServerAnswer> {
    const json = body === undefined ? undefined : JSON.stringify(body)
    const headers = json === undefined ? {} : { 'content-type': 'application/json' }
    const response = await this.#send({ method, path, headers }, json, begin)
    const chunks: AsyncIterable<string> = response.setEncoding('utf8')
    let text = ''
    for await (const chunk of chunks) {
      text += chunk
      if (text.length <= MAX_ANSWER_CHARS) continue
      const message = `${method} ${path}: the response exceeds ${MAX_ANSWER_CHARS} characters`
      throw new MainstemError('protocol_error', message)
    }
    return { status: response.statusCode ?? 0, text }
  }

  #send(options: RequestOptions, body = '', begin?: () => void): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request({ ...this.#setup, ...options }, resolve)
      sent.on('error', (cause) =>
        reject(
          failed(
            `${sent.method} ${sent.protocol}//${sent.host}:${this.#setup.port}${sent.path} failed: ${cause.message}`,
            cause,
          ),
        ),
      )
      sent.once('socket', (socket) =>
        socket.once('connect', () => {
          begin?.()
          sent.end(body)
        }),
      )
    })
  }
}

function failed(message: string, cause?: Error): MainstemError {
  return new MainstemError('connection_failed', message, undefined, { cause })
}

/** A response as a frame. Keeps JSON text unchanged; encodes other text as a JSON string. */
export function answerFrame(tag: string | undefined, { status, text }: ServerAnswer): Frame {
  const body = jsonFrame('http', text).value === undefined ? JSON.stringify(text) : text
  const head = JSON.stringify({ tag, status }).slice(0, -1)
  return jsonFrame('http', `${head},"body":${body}}`)
}
