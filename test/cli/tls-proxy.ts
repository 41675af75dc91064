import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'

/** A certificate for `localhost` that no system trusts, and its file. */
export function ownCertificate(folder: string): { file: string; cert: string; key: string } {
  const [file, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const files = ['-keyout', keyFile, '-out', file, '-days', '2']
  execFileSync('openssl', ['req', '-x509', ...curve, ...files, ...subject], { stdio: 'ignore' })
  return { file, cert: readFileSync(file, 'utf8'), key: readFileSync(keyFile, 'utf8') }
}

/** Ends TLS and passes each connection on to the next of its servers, as a proxy does. */
export class TlsProxy implements AsyncDisposable {
  readonly #server
  readonly #open = new Set<Socket>()
  /** May change; without one, connections are closed. */
  readonly ports: number[]
  #next = 0

  constructor(ports: number[], identity: { cert: string; key: string }) {
    this.ports = ports
    this.#server = createServer(identity, (secure) => {
      const port = this.ports[this.#next++ % this.ports.length]
      if (port === undefined) {
        secure.destroy()
        return
      }
      const plain = connect(port, '127.0.0.1')
      for (const [one, other] of [
        [secure, plain],
        [plain, secure],
      ] as const) {
        this.#open.add(one)
        one.once('close', () => {
          this.#open.delete(one)
          other.destroy()
        })
        one.on('error', () => other.destroy())
        one.pipe(other)
      }
    })
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `https://localhost:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
    await closed
  }
}
