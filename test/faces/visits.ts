import { call, fetchFrom, NDJSON, SSE } from '../gateway/api.ts'
import { result } from '../gateway/rpc/rpc.ts'
import type { TestGateway } from '../gateway/start.ts'
import { SocketReader } from '../gateway/streams/socket.ts'
import { parseEvents } from '../gateway/streams/sse.ts'

/** A message as it came, and the place behind it. */
interface Got {
  message: Record<string, unknown>
  cursor: string
}

/** A reader that comes and goes, and where it is. */
export interface Reader {
  server: TestGateway
  id: string
  dialect: string
  key: string
  cursor: string | undefined
}

/** One connection: at least so many messages, as long as there are any, and then it is cut. */
export type Visit = (reader: Reader, least: number) => Promise<Got[]>

const lines = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .filter((line) => line !== '')

/** What was whole when the connection was cut. */
const inEvents = (text: string): Got[] =>
  parseEvents(text).map(({ id, data }) => ({ message: data, cursor: id }))

const inLines = (text: string, cursorOf: (message: Record<string, unknown>) => unknown): Got[] =>
  lines(text).map((line) => {
    const message = JSON.parse(line)
    return { message, cursor: `${cursorOf(message)}` }
  })

async function readSome(
  open: (signal: AbortSignal) => Promise<Response>,
  parse: (text: string) => Got[],
  least: number,
): Promise<Got[]> {
  const leave = new AbortController()
  const response = await open(leave.signal)
  const decoder = new TextDecoder()
  let text = ''
  if (least > 0) {
    // Whatever has come is taken, and what is on its way when the reader goes comes again.
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      if (parse(text).length >= least) break
    }
  }
  leave.abort()
  return parse(text)
}

const since = (cursor: string | undefined) => ({
  ...(cursor !== undefined && { 'last-event-id': cursor }),
})

/** The transports on which a reader can come back to where it was. */
export const visits: Readonly<Record<string, { dialects: readonly string[]; visit: Visit }>> = {
  'server-sent events': {
    dialects: ['mainstem', 'execute', 'ues', 'daemon', 'board', 'unified'],
    visit: ({ server, id, dialect, cursor }, least) =>
      readSome(
        (signal) =>
          fetchFrom(server, `GET /v1/sessions/${id}/events?dialect=${dialect}`, {
            headers: { ...SSE, ...since(cursor) },
            signal,
          }),
        inEvents,
        least,
      ),
  },
  lines: {
    dialects: ['mainstem'],
    visit: ({ server, id, cursor = '0' }, least) =>
      readSome(
        (signal) =>
          fetchFrom(server, `GET /v1/sessions/${id}/events?after=${cursor}`, { headers: NDJSON, signal }),
        (text) => inLines(text, ({ seq }) => seq),
        least,
      ),
  },
  'a WebSocket': {
    dialects: ['mainstem'],
    async visit({ server, id, cursor = '0' }, least) {
      const reader = await new SocketReader(server, `/v1/sessions/${id}/events?after=${cursor}`).open()
      if (Number.isFinite(least)) {
        await reader.until(least)
        reader.socket.terminate()
      }
      await reader.closed
      return reader.messages.map((message) => ({ message, cursor: `${message.seq}` }))
    },
  },
  pages: {
    dialects: ['mainstem', 'execute', 'ues', 'daemon', 'board', 'unified'],
    async visit({ server, id, dialect, cursor = '0' }, least) {
      const limit = Math.min(Math.max(least, 1), 1000)
      const query = `dialect=${dialect}&after=${cursor}&limit=${limit}`
      const { body } = await call(server, `GET /v1/sessions/${id}/events?${query}`)
      const messages = (body.entries ?? body.messages) as Record<string, unknown>[]
      return messages.map((message) => ({ message, cursor: String(body.next) }))
    },
  },
  execute: {
    dialects: ['execute', 'ues', 'unified'],
    visit: ({ server, dialect, key, cursor }, least) =>
      readSome(
        (signal) =>
          server.execute(JSON.parse(key), {
            path: `/v1/execute?dialect=${dialect}`,
            headers: since(cursor),
            signal,
          }),
        inEvents,
        least,
      ),
  },
  'the daemon': {
    dialects: ['daemon'],
    async visit({ server, id, cursor }, least) {
      const params = { sessionId: id, after: cursor ?? 0 }
      const answer = await result(server, 'session.reconnect', params)
      // Where nothing was wanted the answer is lost on its way, and asked for again.
      if (least === 0) return []
      const events = answer.bufferedEvents as Record<string, unknown>[]
      return events.map((message) => ({ message, cursor: String(answer.cursor) }))
    },
  },
  'the events of all sessions': {
    dialects: ['mainstem'],
    visit: ({ server, cursor }, least) =>
      readSome(
        (signal) => fetchFrom(server, `GET /v1/events?after=${cursor}`, { headers: NDJSON, signal }),
        (text) => inLines(text, (entry) => entry.cursor),
        least,
      ),
  },
}
