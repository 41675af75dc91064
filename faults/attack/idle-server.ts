import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'

/**
 * A server that does next to nothing, in a process of its own. An attack on it shows how long others wait only because
 * the attack runs on the same machine.
 */
export class IdleServer implements AsyncDisposable {
  readonly url: string
  readonly #child: ChildProcess

  private constructor(url: string, child: ChildProcess) {
    this.url = url
    this.#child = child
  }

  static async start(): Promise<IdleServer> {
    const child = fork(import.meta.filename)
    const [port] = await once(child, 'message')
    return new IdleServer(`http://127.0.0.1:${port}`, child)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill()
    await once(this.#child, 'exit')
  }
}

if (import.meta.main) {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.on('data', (bytes: Buffer) => {
      const head = bytes.toString('latin1', 0, 400)
      // Bodies that do not end are read no further, and get no answer.
      if (/transfer-encoding|content-length: 999|upgrade/.test(head)) socket.pause()
      else if (/^(GET|POST) /.test(head)) socket.write(ANSWER)
    })
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address === 'object') process.send?.(address?.port)
  })
  process.on('disconnect', () => process.exit())
}
