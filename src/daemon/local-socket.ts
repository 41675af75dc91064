import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import type { Server as HttpServer } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { privateDirectory } from './private-file.ts'

/** Longer paths of sockets are cut off without an error on some systems. */
const LONGEST_PATH = 100

/**
 * The unix socket of the server of a data directory; none where the system has no such sockets. If the path is too long,
 * the socket is in a folder of this user below `/tmp`: the same for all programs, whatever their environment.
 */
export function socketIn(directory: string): string | undefined {
  if (process.platform === 'win32') return undefined
  const path = join(directory, 'daemon.sock')
  if (Buffer.byteLength(path) <= LONGEST_PATH) return path
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 32)
  return join(`/tmp/mainstem-${process.getuid?.() ?? 0}`, `${name}.sock`)
}

/** The socket to connect to. Rejects if another user could have created it, because the token is sent to it. */
export async function safeSocketIn(directory: string): Promise<string | undefined> {
  const path = socketIn(directory)
  if (path !== undefined && dirname(path) !== directory) await privateDirectory(dirname(path))
  return path
}

/**
 * Passes the connections of a unix socket to an HTTP server. Call it only with the lock of the data directory: it
 * replaces the socket that a killed server left behind. Adds each connection to `connections`.
 */
export async function listenOnSocket(
  path: string,
  http: HttpServer,
  connections = new WeakSet<Socket>(),
): Promise<AsyncDisposable> {
  const server = createServer((socket) => {
    connections.add(socket)
    http.emit('connection', socket)
  })
  await privateDirectory(dirname(path))
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
