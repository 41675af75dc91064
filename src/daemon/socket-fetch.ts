import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

// An import of `node:http` reads all of its exports, which loads the platform's `fetch`: more than the rest of a call.
const { request } = process.getBuiltinModule('node:http')

/** The part of a `Response` that our clients read. */
export interface SocketResponse {
  ok: boolean
  status: number
  headers: { get(name: string): string | null }
  body: ReadableStream<Uint8Array> | null
  text(): Promise<string>
}

/** `fetch` over a unix socket. The platform's own cannot, and loading it takes longer than a whole call. */
export function socketFetch(socketPath: string): (url: string, init: RequestInit) => Promise<SocketResponse> {
  return (url, { method = 'GET', headers, body, signal }) => {
    const { promise, resolve, reject } = Promise.withResolvers<SocketResponse>()
    const { pathname, search } = new URL(url)
    const call = request({
      socketPath,
      // A connection that is kept open would delay the end of the server.
      agent: false,
      path: pathname + search,
      method,
      headers: { ...(isPlain(headers) && headers), host: 'localhost' },
      ...(signal && { signal }),
    })
    call.once('response', (incoming) => resolve(responseOf(incoming)))
    call.once('error', reject)
    if (body instanceof ReadableStream) Readable.fromWeb(body).once('error', reject).pipe(call)
    else call.end(typeof body === 'string' ? body : undefined)
    return promise
  }
}

function isPlain(headers: RequestInit['headers']): headers is Record<string, string> {
  return headers !== undefined && !Array.isArray(headers) && typeof headers.forEach !== 'function'
}

function responseOf(incoming: IncomingMessage): SocketResponse {
  const status = incoming.statusCode ?? 0
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: {
      get: (name) => {
        const value = incoming.headers[name.toLowerCase()]
        return Array.isArray(value) ? value.join(', ') : (value ?? null)
      },
    },
    get body() {
      return Readable.toWeb(incoming)
    },
    text: () => text(incoming),
  }
}
