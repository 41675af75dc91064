import { rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'

/** One for all pipes: whoever gets a chunk is done with it before anything else is read. */
const BUFFER = Buffer.allocUnsafeSlow(128 * 1024)

/** A pipe with its two ends in this process, of which one is for a child. */
export interface SocketPair {
  /** What a `data` event brings is good until the next one. */
  readonly ours: Socket
  readonly theirs: Socket
}

/**
 * A pipe that is read into the same memory again and again; one made by Node for a child takes new memory for every
 * read, which is most of what reading costs. Nothing where it cannot be made, as in a directory with a long path.
 */
export async function socketPair(path: string): Promise<SocketPair | undefined> {
  const server = createServer({ pauseOnConnect: true })
  server.listen({ path, exclusive: true, backlog: 1 })
  const callback = (size: number, bytes: Uint8Array): boolean => ours.emit('data', bytes.subarray(0, size))
  const ours: Socket = connect({ path, onread: { buffer: BUFFER, callback } })
  const made = new Promise<SocketPair | undefined>((resolve) => {
    const fail = () => resolve(undefined)
    server.once('connection', (theirs) => resolve({ ours, theirs }))
    server.once('error', fail)
    ours.once('error', fail)
    // Accepted and dropped, for want of file descriptors.
    ours.once('close', fail)
  })
  // Nobody else can have found it: nothing had a turn in between.
  if (server.listening) rmSync(path)
  const pair = await made
  server.close()
  return pair
}
