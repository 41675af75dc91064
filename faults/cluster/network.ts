import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { Statements } from './statements.ts'

/** The network between one node and the database, which can reset its connections or lose every byte. */
export class Network implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isCut = false
  readonly #statements = new Statements()
  /** Whether what the node sends is held, because the network was cut before it. */
  #isNext: ((statements: string) => boolean) | undefined

  /** Listens on `host`, and connects with a port of this machine. */
  static async start(port: number, host = '127.0.0.1'): Promise<Network> {
    const network = new Network(port)
    network.#server.listen(0, host)
    await once(network.#server, 'listening')
    return network
  }

  private constructor(port: number) {
    this.#server = createServer((client) => this.#join(client, connect(port, '127.0.0.1')))
  }

  get port(): number {
    return this.#address.port
  }

  /** The same database, through this network. */
  url(database: string): string {
    const { address, port } = this.#address
    const through = new URL(database)
    through.hostname = address
    through.port = String(port)
    return through.href
  }

  /** Resets all connections; new ones work. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  /** Passes no byte in either direction and no error, also on new connections, until `heal` or `deliver`. */
  cut(): void {
    this.#isCut = true
    this.#isNext = undefined
    for (const socket of this.#sockets) socket.pause()
  }

  /** Cuts before the first chunk of the node with statements that this returns true for. */
  cutBefore(isFirstLost: (statements: string) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#isNext = (statements) => {
        if (!isFirstLost(statements)) return false
        this.cut()
        resolve()
        return true
      }
    })
  }

  /** Delivers everything that was held up, as if the network had only been slow. */
  deliver(): void {
    this.#isCut = false
    for (const socket of this.#sockets) socket.resume()
  }

  /** Bytes that were lost do not arrive, so the connections of before are reset. */
  heal(): void {
    this.#isCut = false
    this.reset()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.reset()
    this.#server.close()
    await once(this.#server, 'close')
  }

  get #address(): AddressInfo {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the network has no port')
    return address
  }

  #join(client: Socket, server: Socket): void {
    this.#pass(client, server, (chunk) => {
      const statements = this.#statements.textOf(chunk)
      return this.#isNext?.(statements) ?? false
    })
    this.#pass(server, client, () => false)
    if (this.#isCut) this.cut()
  }

  #pass(from: Socket, to: Socket, isHeld: (chunk: Buffer) => boolean): void {
    this.#sockets.add(from)
    from.setNoDelay(true)
    from.on('data', (chunk: Buffer) => {
      if (isHeld(chunk)) from.unshift(chunk)
      else if (!to.write(chunk)) from.pause()
    })
    to.on('drain', () => this.#isCut || from.resume())
    // The other side learns of an error by the end of its connection.
    from.on('error', () => to.destroy())
    from.on('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
  }
}
