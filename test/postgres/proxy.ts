import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A network between a client and a server that can fail. */
export interface Proxy extends AsyncDisposable {
  /** The URL of the server, through this network. */
  readonly url: string
  /** The answers to statements that contain this text are lost, while the statements arrive. */
  swallow(text: string): void
  /** The statements that were sent and have parameters, in order. */
  readonly statements: readonly string[]
  /** Ends all connections; new ones work, and all answers arrive. */
  reset(): void
}

const PARSE = 'P'.charCodeAt(0)

export async function startProxy(url: string): Promise<Proxy> {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const statements: string[] = []
  let swallowed: string | undefined
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
    }
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    let isMute = false
    client.on('data', (data: Buffer) => {
      isMute ||= swallowed !== undefined && data.includes(swallowed)
      // A message `Parse`: its length, an empty name, and the statement.
      if (data[0] === PARSE) statements.push(data.toString('latin1', 6, data.indexOf(0, 6)))
      upstream.write(data)
    })
    upstream.on('data', (data) => isMute || client.write(data))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const through = new URL(url)
  through.port = String(address.port)
  const reset = () => {
    swallowed = undefined
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  return {
    url: through.href,
    statements,
    swallow(text) {
      swallowed = text
    },
    reset,
    async [Symbol.asyncDispose]() {
      server.close()
      reset()
      await once(server, 'close')
    },
  }
}
