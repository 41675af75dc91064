import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type WebSocket, WebSocketServer } from 'ws'

export interface Heard {
  method: string
  path: string
  token: string | undefined
  body: unknown
}

export interface BoardEvent {
  id: string
  sessionId: string
  type: string
  payload: object
  timestamp: string
}

type Answer = [status: number, body: unknown]

/** A board server with one session, small enough to be read, and as moody as a test wants it. */
export class FakeBoard implements AsyncDisposable {
  readonly session = randomUUID()
  readonly heard: Heard[] = []
  readonly events: BoardEvent[] = []
  readonly sockets = new Set<WebSocket>()
  state = 'running'
  token: string | undefined
  /** What becomes of a client that wants a socket. */
  upgrade: 'taken' | 'refused' | 'ignored' = 'taken'
  /** A socket that is not closed although its session ended. */
  keepsSockets = false
  /** Takes the place of an answer, once; a function may also leave the caller waiting. */
  readonly instead: { path: RegExp; answer: Answer | 'silence' }[] = []
  /** Runs after an answer was sent. */
  after: (heard: Heard) => void = () => undefined
  page: (offset: number, limit: number) => unknown = (offset, limit) =>
    this.events.slice(offset, offset + limit)
  cancel: () => Answer = () => {
    this.say('cancelled', {})
    this.end('cancelled')
    return [200, { id: this.session, state: 'cancelled' }]
  }
  readonly #server = createServer((request, response) => void this.#serve(request, response))
  readonly #upgrades = new WebSocketServer({ noServer: true })
  readonly #connections = new Set<Duplex>()
  readonly #waiting: { done(): boolean; resolve(): void }[] = []

  static async start(): Promise<FakeBoard> {
    const board = new FakeBoard()
    board.#server.on('upgrade', (request, socket, head) => {
      board.#note(request, undefined)
      const known = request.url === `/ws/sessions/${board.session}` && board.#admits(request)
      board.#connections.add(socket)
      if (board.upgrade === 'ignored') return
      if (!known || board.upgrade === 'refused') return void socket.end('HTTP/1.1 404 Not Found\r\n\r\n')
      board.#upgrades.handleUpgrade(request, socket, head, (opened) => board.#welcome(opened))
    })
    await new Promise<void>((resolve) => board.#server.listen(0, '127.0.0.1', resolve))
    return board
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  }

  say(type: string, payload: object): BoardEvent {
    const id = `evt-${randomUUID()}`
    const event = { id, sessionId: this.session, type, payload, timestamp: '2025-12-03T10:00:01.234Z' }
    this.events.push(event)
    for (const socket of this.sockets) socket.send(JSON.stringify(event))
    return event
  }

  log(...lines: string[]): void {
    for (const line of lines) this.say('log', { line })
  }

  end(state: string): void {
    this.state = state
    if (this.keepsSockets) return
    for (const socket of this.sockets) socket.close(1000)
  }

  /** Cuts every socket without a word, as a network does. */
  breakSockets(): void {
    for (const socket of this.sockets) socket.terminate()
  }

  /** Says everything again, by the same ids or as they are written elsewhere. */
  repeat(written = (id: string) => id): void {
    const events = this.events.map((event) => JSON.stringify({ ...event, id: written(event.id) }))
    for (const socket of this.sockets) for (const event of events) socket.send(event)
  }

  asked(path: RegExp): Heard[] {
    return this.heard.filter((heard) => path.test(`${heard.method} ${heard.path}`))
  }

  /** Settles when it was asked for this, that many times. */
  async until(path: RegExp, times = 1): Promise<void> {
    const done = () => this.asked(path).length >= times
    if (!done()) await new Promise<void>((resolve) => this.#waiting.push({ done, resolve }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.breakSockets()
    // Once upgraded, a connection is no longer the server's to close.
    for (const connection of this.#connections) connection.destroy()
    if (!this.#server.listening) return
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  #note(request: IncomingMessage, body: unknown): Heard {
    const { method = '', url: path = '', headers } = request
    const heard = { method, path, token: headers.authorization, body }
    this.heard.push(heard)
    for (const { done, resolve } of this.#waiting) if (done()) resolve()
    return heard
  }

  #admits({ headers }: IncomingMessage): boolean {
    return this.token === undefined || headers.authorization === `Bearer ${this.token}`
  }

  #welcome(socket: WebSocket): void {
    this.sockets.add(socket)
    socket.on('close', () => this.sockets.delete(socket))
    for (const event of this.events) socket.send(JSON.stringify(event))
    if (this.state !== 'running') socket.close(1000)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = await text(request)
    const heard = this.#note(request, sent === '' ? undefined : JSON.parse(sent))
    const called = `${heard.method} ${heard.path}`
    const index = this.instead.findIndex(({ path }) => path.test(called))
    const [other] = index < 0 ? [] : this.instead.splice(index, 1)
    if (other?.answer === 'silence') return
    const [status, body] = other?.answer ?? (this.#admits(request) ? this.#answer(heard) : [401, UNKNOWN])
    response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body), () => this.after(heard))
  }

  #answer({ method, path }: Heard): Answer {
    const { pathname, searchParams } = new URL(path, this.url)
    if (method === 'POST' && pathname === '/api/sessions') {
      return [201, { id: this.session, state: this.state }]
    }
    const own = `/api/sessions/${this.session}`
    if (method === 'POST' && pathname === `${own}/cancel`) return this.cancel()
    if (method !== 'GET') return [405, {}]
    if (pathname === own) return [200, { id: this.session, state: this.state }]
    if (pathname !== `${own}/events`) return [404, { error: 'no such session' }]
    return [200, this.page(Number(searchParams.get('offset')), Number(searchParams.get('limit')))]
  }
}

const UNKNOWN = { error: 'who are you?' }
