import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface Target {
  url: string
  /** The token of the attacker. */
  token: string
  /** A session of the attacker with an entry of 12 MB. */
  session: string
  /** A small session of the attacker. */
  small: string
}

/** Goes on until its process ends, and counts each connection or request. */
type Attack = (target: Target, count: () => void) => Promise<unknown>

const RETRY_MS = 50

/** Does a piece of work again and again, `width` times at once. A refusal is what the attacker expects. */
function forever(width: number, count: () => void, work: () => Promise<unknown>): Promise<unknown> {
  const one = async () => {
    for (;;) {
      count()
      await work().catch(() => pause(RETRY_MS))
    }
  }
  return Promise.all(Array.from({ length: width }, one))
}

const head = (route: string, token: string, more = '') =>
  `${route} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n${more}\r\n`

/** Sends a beginning on a connection of its own, and reads nothing until the server closes it. */
async function hold({ url }: Target, bytes: readonly string[]): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  for (const [index, part] of bytes.entries()) {
    socket.write(part)
    // The first request tells the server whose connection this is.
    if (index < bytes.length - 1) await Promise.race([once(socket, 'data'), once(socket, 'close')])
  }
  socket.pause()
  await once(socket, 'close')
  await pause(RETRY_MS)
}

async function call({ url, token }: Target, route: string, body?: unknown): Promise<void> {
  const [method = '', path = ''] = route.split(' ')
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`status ${response.status}`)
}

/** Sends the same bytes after a head, as fast as they are read, until the server closes the connection. */
async function flood({ url }: Target, first: string, bytes: Buffer): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const closed = once(socket, 'close')
  socket.write(first)
  socket.resume()
  while (!socket.closed) if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), closed])
  await pause(RETRY_MS)
}

/** Chunks of one byte. */
const CHUNKS = Buffer.from('1\r\nx\r\n'.repeat(1_000))
const IMPORT = 'content-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n'

/** Pings without content, which a server answers. */
const PINGS = Buffer.from('898000000000'.repeat(1_000), 'hex')
const UPGRADE = [
  'connection: upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  `sec-websocket-key: ${'x'.repeat(22)}==`,
  '',
].join('\r\n')

/** A search with as many words as are allowed. */
const WORDS = ['some', 'words', 'that', 'are', 'in', 'every', 'session'].join('+')

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'slow bodies': (target, count) => {
    const body = 'content-type: application/json\r\ncontent-length: 999\r\n'
    const parts = [head('GET /v1/agents', target.token), `${head('POST /v1/sessions', target.token, body)}{`]
    return forever(1_100, count, () => hold(target, parts))
  },
  'unread pages': (target, count) => {
    const page = head(`GET /v1/sessions/${target.session}/events?after=0`, target.token)
    return forever(120, count, () => hold(target, [page]))
  },
  searches: (target, count) => forever(40, count, () => call(target, `GET /v1/search?q=${WORDS}`)),
  tickets: (target, count) => forever(20, count, () => call(target, 'POST /v1/tickets')),
  'one-byte chunks': (target, count) =>
    forever(16, count, () => flood(target, head('POST /v1/sessions/import', target.token, IMPORT), CHUNKS)),
  pings: (target, count) => {
    const socket = head(`GET /v1/sessions/${target.small}/events`, target.token, UPGRADE)
    return forever(16, count, () => flood(target, socket, PINGS))
  },
  processes: (target, count) =>
    forever(8, count, () => call(target, 'POST /v1/sessions', { agent: 'claude', prompt: 'work' })),
}
