import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import { MainstemError } from '../../model/index.ts'
import { isFairShare } from '../../reading/byte-budget.ts'

interface OpenConnection {
  address: string
  /** The principal of the last request with a valid token; absent before one. */
  principal: string | undefined
  /** The number of requests without a complete response; an open WebSocket counts as one. */
  requests: number
  /** The connection is idle between two requests. */
  keptAlive: boolean
}

/**
 * Limits the connections of a server. A connection without a valid token so far may be closed to make room for a new
 * one, so connections without a token never block a client that has one. A principal gets a fair share of those with a
 * token. Connections over the unix socket of the server count for nothing: they belong to its user, who can always come in.
 */
export class Connections {
  readonly #limit: number
  /** A quarter of all connections is reserved for clients with a token. */
  readonly #tokenless: number
  /**
   * Exceeds what the system queues for one accept, so that a burst from one address is read before connections are
   * closed.
   */
  readonly #perAddress: number
  /** Ordered by the time they were opened. */
  readonly #open = new Map<Socket, OpenConnection>()
  readonly #tokenlessOf = new Map<string, number>()
  #tokenlessOpen = 0
  readonly #openOf = new Map<string, number>()
  readonly #unixSockets: Pick<WeakSet<Socket>, 'has'>

  constructor(limit: number, unixSockets: Pick<WeakSet<Socket>, 'has'>) {
    this.#limit = limit
    this.#unixSockets = unixSockets
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

  /** Marks a connection after a request with a valid token. Throws `overloaded` if its principal has too many. */
  trust(socket: Socket, principal: string): void {
    const connection = this.#open.get(socket)
    if (!connection || connection.principal === principal) return
    this.#assign(connection, undefined)
    const others = this.#open.size - this.#tokenlessOpen
    const own = this.#openOf.get(principal) ?? 0
    const isFair = isFairShare(own + 1, this.#limit - others - 1)
    if (own > 0 && !isFair && !this.#closeIdle(principal)) {
      throw new MainstemError('overloaded', `${own} connections of this token are already open`, {
        advice: 'Close some of them, or use them for several requests.',
      })
    }
    this.#assign(connection, principal)
  }

  #opened(socket: Socket): void {
    if (this.#unixSockets.has(socket)) return
    // A peer that disconnected before it was accepted has no address.
    const address = networkOf(socket.remoteAddress ?? '')
    if (!this.#makeRoom(address)) {
      socket.destroy()
      return
    }
    this.#open.set(socket, { address, principal: undefined, requests: 0, keptAlive: false })
    this.#countTokenless(address, 1)
    socket.once('close', () => this.#forget(socket))
  }

  /** Closes the least valuable connection; returns false only when all connections have a token. */
  #makeRoom(address: string): boolean {
    if ((this.#tokenlessOf.get(address) ?? 0) >= this.#perAddress) return this.#closeTokenless(address)
    if (this.#tokenlessOpen >= this.#tokenless) return this.#closeTokenless(this.#largestAddress())
    if (this.#open.size < this.#limit) return true
    return this.#closeTokenless(this.#largestAddress()) || this.#closeIdle()
  }

  /** Closes an idle connection if there is one, otherwise the oldest: a new one needs time to send its token. */
  #closeTokenless(address: string | undefined): boolean {
    let oldest: Socket | undefined
    for (const [socket, connection] of this.#open) {
      if (connection.principal !== undefined || connection.address !== address) continue
      if (connection.keptAlive) return this.#close(socket)
      oldest ??= socket
    }
    return oldest !== undefined && this.#close(oldest)
  }

  /** Closes a connection between two requests: of one principal, or of any client. */
  #closeIdle(principal?: string): boolean {
    for (const [socket, connection] of this.#open) {
      const isCandidate = principal === undefined || connection.principal === principal
      if (isCandidate && connection.requests === 0) return this.#close(socket)
    }
    return false
  }

  #close(socket: Socket): true {
    this.#forget(socket)
    socket.destroy()
    return true
  }

  #forget(socket: Socket): void {
    const connection = this.#open.get(socket)
    if (!this.#open.delete(socket) || !connection) return
    this.#assign(connection, undefined)
    this.#countTokenless(connection.address, -1)
  }

  /** Counts the connection for a principal, or for its address. */
  #assign(connection: OpenConnection, principal: string | undefined): void {
    const { address, principal: before } = connection
    if (before === principal) return
    if (before === undefined) this.#countTokenless(address, -1)
    else add(this.#openOf, before, -1)
    if (principal === undefined) this.#countTokenless(address, 1)
    else add(this.#openOf, principal, 1)
    connection.principal = principal
  }

  #countTokenless(address: string, change: 1 | -1): void {
    this.#tokenlessOpen += change
    add(this.#tokenlessOf, address, change)
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

function add(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

/** An IPv6 host usually owns a whole /64, so those addresses count as one. */
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
