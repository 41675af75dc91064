import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import type { Server as HttpServer } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** Longer paths of sockets are cut off without an error on some systems. */
const LONGEST_PATH = 100

/** The unix socket of the server of a data directory; none where the system has no such sockets, or the path is too long. */
export function socketIn(directory: string): string | undefined {
  const path = join(directory, 'daemon.sock')
  return process.platform === 'win32' || Buffer.byteLength(path) > LONGEST_PATH ? undefined : path
}

/**
 * Passes the connections of a unix socket to an HTTP server. Call it only with the lock of the data directory: it
 * replaces the socket that a killed server left behind.
 */
export async function listenOnSocket(path: string, http: HttpServer): Promise<AsyncDisposable> {
  const server = createServer((socket) => http.emit('connection', socket))
  await rm(path, { force: true })
  server.listen(path)
  await once(server, 'listening')
  await chmod(path, 0o600)
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      // The HTTP server closes only the idle connections that it accepted itself.
      http.closeIdleConnections()
      await closed
    },
  }
}
