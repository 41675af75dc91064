import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export interface Target {
  url: string
  /** The token of the attacker. */
  token: string
  /** A session of the attacker with an entry of 12 MB. */
  session: string
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

/** An import whose body arrives in chunks of one byte. */
async function drip({ url, token }: Target): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const closed = once(socket, 'close')
  const type = 'content-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n'
  socket.write(head('POST /v1/sessions/import', token, type))
  const chunks = '1\r\nx\r\n'.repeat(1_000)
  while (!socket.closed && !socket.readableLength) {
    if (!socket.write(chunks)) await Promise.race([once(socket, 'drain'), closed])
  }
  socket.destroy()
  await pause(RETRY_MS)
}

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
  'one-byte chunks': (target, count) => forever(16, count, () => drip(target)),
  processes: (target, count) =>
    forever(8, count, () => call(target, 'POST /v1/sessions', { agent: 'claude', prompt: 'work' })),
}
