import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { type Random, randomFrom } from '../random.ts'

/**
 * The cut is drawn evenly from the powers of two up to this one: as often in the headers as deep in the log. One
 * connection in ten passes a whole log of about 128 KiB, so every reader gets to the end.
 */
const MOST_BITS = 19

/** A TCP proxy that cuts connections at random byte positions, in both directions, by FIN or by RST. */
export class CuttingProxy implements AsyncDisposable {
  /** Connections that were cut while bytes were on the way. */
  cuts = 0
  connections = 0
  readonly #random: Random
  readonly #bytes: number | undefined
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  /** With `bytes`, every connection carries this many bytes to the client, and any number to the server. */
  static async start(target: string, seed: number, bytes?: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(Number(new URL(target).port), seed, bytes)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  private constructor(port: number, seed: number, bytes: number | undefined) {
    this.#random = randomFrom(seed)
    this.#bytes = bytes
    this.#server = createServer((client) => this.#join(client, connect(port, '127.0.0.1')))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(client: Socket, server: Socket): void {
    this.connections++
    const bytes = () => Math.floor(2 ** (this.#random() * MOST_BITS))
    const resets = this.#random() < 0.5
    this.#pass(client, server, this.#bytes === undefined ? bytes() : Number.POSITIVE_INFINITY, resets)
    this.#pass(server, client, this.#bytes ?? bytes(), resets)
  }

  #pass(from: Socket, to: Socket, bytes: number, resets: boolean): void {
    let left = bytes
    this.#sockets.add(from)
    from.setNoDelay(true)
    from.on('data', (chunk: Buffer) => {
      if (left < 0) return
      const passed = chunk.subarray(0, left)
      left -= chunk.length
      if (left >= 0) {
        if (!to.write(passed)) from.pause()
        return
      }
      left = -1
      this.cuts++
      to.end(passed, () => {
        if (resets) to.resetAndDestroy()
        else to.destroy()
        from.destroy()
      })
    })
    to.on('drain', () => from.resume())
    from.on('end', () => to.end())
    // The other side learns of the error by the end of its connection.
    from.on('error', () => to.destroy())
    from.on('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
  }
}
