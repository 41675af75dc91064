import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { isIPv6, type Socket } from 'node:net'

interface Connection {
  address: string
  /** A request on it had a valid token. */
  trusted: boolean
  /** Requests without a complete response; a WebSocket is one that lasts. */
  requests: number
  /** It waits for another request after a first one. */
  keptAlive: boolean
}

/**
 * Limits the connections of a server. Until a request on it had a valid token, a connection can be closed to make
 * room for a new one. So open connections without a token never keep out a client that has one.
 */
export class Connections {
  readonly #limit: number
  /** A quarter of all places is reserved for connections with a token. */
  readonly #tokenless: number
  /** More than the system queues for one accept, so that a burst of clients of one address is read before it is cut. */
  readonly #perAddress: number
  /** In the order in which they were opened. */
  readonly #open = new Map<Socket, Connection>()
  readonly #tokenlessOf = new Map<string, number>()
  #tokenlessOpen = 0

  constructor(limit: number) {
    this.#limit = limit
    this.#tokenless = Math.max(1, Math.floor((limit * 3) / 4))
    this.#perAddress = Math.max(1, Math.floor(limit / 2))
  }

  get open(): number {
    return this.#open.size
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#opened(socket))
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = this.#open.get(socket)
      if (!connection) return
      connection.requests++
      connection.keptAlive = false
      response.once('close', () => {
        connection.keptAlive = --connection.requests === 0
      })
    })
    server.on('upgrade', ({ socket }: IncomingMessage) => {
      const connection = this.#open.get(socket)
      if (connection) connection.requests++
    })
  }

  /** A request on this connection had a valid token. */
  trust(socket: Socket): void {
    const connection = this.#open.get(socket)
    if (!connection || connection.trusted) return
    this.#countTokenless(connection.address, -1)
    connection.trusted = true
  }

  #opened(socket: Socket): void {
    // A peer that left before it was accepted has no address.
    const address = networkOf(socket.remoteAddress ?? '')
    if (!this.#makeRoom(address)) {
      socket.destroy()
      return
    }
    this.#open.set(socket, { address, trusted: false, requests: 0, keptAlive: false })
    this.#countTokenless(address, 1)
    socket.once('close', () => this.#forget(socket))
  }

  /** Closes the connection that is missed the least; none is left to close only where all serve a token. */
  #makeRoom(address: string): boolean {
    if ((this.#tokenlessOf.get(address) ?? 0) >= this.#perAddress) return this.#closeTokenless(address)
    if (this.#tokenlessOpen >= this.#tokenless) return this.#closeTokenless(this.#largestAddress())
    if (this.#open.size < this.#limit) return true
    return this.#closeTokenless(this.#largestAddress()) || this.#closeIdle()
  }

  /** One between two requests if there is one, or else the oldest: a new one has time to send its token. */
  #closeTokenless(address: string | undefined): boolean {
    let oldest: Socket | undefined
    for (const [socket, connection] of this.#open) {
      if (connection.trusted || connection.address !== address) continue
      if (connection.keptAlive) return this.#close(socket)
      oldest ??= socket
    }
    return oldest !== undefined && this.#close(oldest)
  }

  #closeIdle(): boolean {
    for (const [socket, { requests }] of this.#open) if (requests === 0) return this.#close(socket)
    return false
  }

  #close(socket: Socket): true {
    this.#forget(socket)
    socket.destroy()
    return true
  }

  #forget(socket: Socket): void {
    const connection = this.#open.get(socket)
    if (!this.#open.delete(socket) || !connection || connection.trusted) return
    this.#countTokenless(connection.address, -1)
  }

  #countTokenless(address: string, change: 1 | -1): void {
    this.#tokenlessOpen += change
    const count = (this.#tokenlessOf.get(address) ?? 0) + change
    if (count > 0) this.#tokenlessOf.set(address, count)
    else this.#tokenlessOf.delete(address)
  }

  #largestAddress(): string | undefined {
    let largest: string | undefined
    let most = 0
    for (const [address, count] of this.#tokenlessOf) {
      if (count > most) [largest, most] = [address, count]
    }
    return largest
  }
}

/** A host with IPv6 usually has a whole /64 of addresses, so those count as one. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::')) return address
  const [left = '', right] = address.split('::')
  const groups = left.split(':')
  if (right !== undefined) {
    const end = right === '' ? [] : right.split(':')
    groups.push(...Array<string>(8 - groups.length - end.length).fill('0'), ...end)
  }
  return groups.slice(0, 4).join(':')
}
