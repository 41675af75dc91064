import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

/** The part of a `Response` that our clients read. */
export interface SocketResponse {
  ok: boolean
  status: number
  headers: { get(name: string): string | null; entries(): Iterable<[string, string]> }
  body: ReadableStream<Uint8Array> | null
  text(): Promise<string>
}

/** The `fetch` of our clients. Loading the platform's own takes longer than a whole call. */
export type NodeFetch = (url: string, init: RequestInit) => Promise<SocketResponse>

/** `fetch` over a unix socket, which the platform's own cannot use. */
export function socketFetch(socketPath: string): NodeFetch {
  return async (url, init) => {
    const { pathname, search } = new URL(url)
    const host = { host: 'localhost' }
    return answered(request({ ...optionsOf(init, host), socketPath, path: pathname + search }), init)
  }
}

/** How long a server may take to accept a connection. */
const CONNECT_MS = 10_000

/** `fetch` to a server on another machine. `ca` has certificates to trust besides those of the system. */
export function networkFetch(ca?: string): NodeFetch {
  return async (url, init) => {
    if (url.startsWith('http:')) return answered(limited(request(url, optionsOf(init))), init)
    const { request: secureRequest } = process.getBuiltinModule('node:https')
    const { rootCertificates } = process.getBuiltinModule('node:tls')
    const trusted = ca === undefined ? {} : { ca: [...rootCertificates, ca] }
    return answered(limited(secureRequest(url, { ...optionsOf(init), ...trusted })), init)
  }
}

function optionsOf({ method = 'GET', headers, signal }: RequestInit, more = {}): RequestOptions {
  return {
    // A connection that is kept open would delay the end of the server.
    agent: false,
    method,
    headers: { ...(isPlain(headers) && headers), ...more },
    ...(signal && { signal }),
  }
}

function limited(call: ClientRequest): ClientRequest {
  call.once('socket', (socket) => {
    const late = () =>
      socket.destroy(Object.assign(new Error(`no connection in ${CONNECT_MS} ms`), { code: 'ETIMEDOUT' }))
    socket.setTimeout(CONNECT_MS, late)
    socket.once(call.protocol === 'https:' ? 'secureConnect' : 'connect', () => socket.setTimeout(0))
  })
  return call
}

function answered(call: ClientRequest, { body }: RequestInit): Promise<SocketResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<SocketResponse>()
  call.once('response', (incoming) => resolve(responseOf(incoming)))
  call.once('error', reject)
  if (body instanceof ReadableStream) Readable.fromWeb(body).once('error', reject).pipe(call)
  else call.end(typeof body === 'string' ? body : undefined)
  return promise
}

function isPlain(headers: RequestInit['headers']): headers is Record<string, string> {
  return headers !== undefined && !Array.isArray(headers) && typeof headers.forEach !== 'function'
}

function responseOf(incoming: IncomingMessage): SocketResponse {
  const status = incoming.statusCode ?? 0
  const joined = (value: string | string[]) => (Array.isArray(value) ? value.join(', ') : value)
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: {
      get: (name) => {
        const value = incoming.headers[name.toLowerCase()]
        return value === undefined ? null : joined(value)
      },
      entries: () => Object.entries(incoming.headers).map(([name, value = '']) => [name, joined(value)]),
    },
    get body() {
      return Readable.toWeb(incoming)
    },
    text: () => text(incoming),
  }
}
