import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { WebSocket } from 'ws'
import { Problem } from '../../../src/gateway/http/problem.ts'
import { type TestGateway, TOKEN } from '../start.ts'

export type Message = Record<string, unknown>

interface Opening {
  token?: string | undefined
  headers?: Record<string, string>
  /** False for a peer that does not answer pings. */
  autoPong?: boolean
}

/** A reader of a socket, with everything that it was sent. */
export class SocketReader {
  readonly socket: WebSocket
  readonly messages: Message[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  #arrived = Promise.withResolvers<void>()

  constructor(server: TestGateway, path: string, { token = TOKEN, headers, autoPong = true }: Opening = {}) {
    this.socket = new WebSocket(server.url.replace('http', 'ws') + path, {
      headers: { ...(token !== '' && { authorization: `Bearer ${token}` }), ...headers },
      autoPong,
    })
    this.socket.on('message', (data) => {
      this.messages.push(JSON.parse(String(data)))
      this.#arrived.resolve()
    })
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        resolve({ code, reason: String(reason) })
        this.#arrived.resolve()
      })
    })
    // How it ended is told by `closed`.
    this.socket.on('error', () => undefined)
  }

  async open(): Promise<this> {
    if (this.socket.readyState === WebSocket.CONNECTING) await once(this.socket, 'open')
    return this
  }

  /** Settles when so many messages are here; fails when there will never be. */
  async until(count: number): Promise<void> {
    while (this.messages.length < count) {
      if (this.socket.readyState === WebSocket.CLOSED)
        throw new Error(`closed after ${this.messages.length} messages`)
      this.#arrived = Promise.withResolvers()
      await this.#arrived.promise
    }
  }
}

/** Everything that a socket says until it is closed, and how it is closed. */
export async function wholeSocket(server: TestGateway, path: string, opening: Opening = {}) {
  const reader = new SocketReader(server, path, opening)
  const { code, reason } = await reader.closed
  return { messages: reader.messages, code, reason }
}

/** The problem with which a socket is refused before it is one. */
export async function refusal(server: TestGateway, path: string, opening: Opening = {}): Promise<Problem> {
  const { socket } = new SocketReader(server, path, opening)
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  const problem = Problem.parse(JSON.parse(await text(response)))
  if (problem.status !== response.statusCode) throw new Error(`answered with ${response.statusCode}`)
  return problem
}
