import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { AddressGuard } from './address-guard.ts'

/** One call over HTTP. */
export interface Outgoing {
  url: URL
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
}

/** What the receiver answered. Its body is not read: it could be of any size, and nobody needs it. */
export interface PostReply {
  status: number
  /** How long it wants to be left alone. */
  retryAfterMs?: number
}

/** Sends a request to an address that the guard allows. Follows no redirect, and uses no proxy and no old connection. */
export function post(
  { url, headers, body }: Outgoing,
  guard: AddressGuard,
  signal: AbortSignal,
): Promise<PostReply> {
  guard.check(url)
  const { promise, resolve, reject } = Promise.withResolvers<PostReply>()
  const request = url.protocol === 'https:' ? secureRequest : plainRequest
  const sent = request(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': `${Buffer.byteLength(body)}` },
    lookup: guard.lookup(url),
    agent: false,
    signal,
  })
  sent.on('error', reject)
  sent.on('response', (response) => {
    const seconds = Number(response.headers['retry-after'])
    const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined
    resolve({ status: response.statusCode ?? 0, ...(retryAfterMs !== undefined && { retryAfterMs }) })
    sent.destroy()
  })
  sent.end(body)
  return promise
}
