import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

/** One subscriber for each path. */
export interface Readers {
  url: string
  transport: 'sse' | 'socket'
  paths: readonly string[]
}

/**
 * Subscribers that read raw bytes, so that they cost less than the server. Prints `open` when all are connected, and the
 * delays of some of them whenever each has read the end of a turn.
 */
const { url, transport, paths }: Readers = JSON.parse(await text(process.stdin))
const { hostname, port } = new URL(url)
const TIMED = 50
const END = Buffer.from('"turn.completed"')
const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
const HEADERS =
  transport === 'socket'
    ? [...upgrade, `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`]
    : ['Accept: text/event-stream']

let delays: number[] = []
let waiting = paths.length
const opened = paths.map((path, index) => subscribe(path, index % Math.ceil(paths.length / TIMED) === 0))
await Promise.all(opened)
process.stdout.write('open\n')

function subscribe(path: string, isTimed: boolean): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect(Number(port), hostname)
  socket.on('error', reject)
  socket.write([`GET ${path}/events HTTP/1.1`, `Host: ${hostname}:${port}`, ...HEADERS, '', ''].join('\r\n'))
  socket.once('data', () => resolve())
  let tail: Uint8Array = Buffer.alloc(0)
  let rest = ''
  socket.on('data', (chunk: Buffer) => {
    if (isTimed) rest = time(rest + chunk.toString('latin1'))
    if (Buffer.concat([tail, chunk]).includes(END) && --waiting === 0) turnEnded()
    tail = chunk.subarray(1 - END.length)
  })
  return promise
}

function turnEnded(): void {
  delays.sort((a, b) => a - b)
  const at = (part: number) => delays[Math.floor(delays.length * part)] ?? 0
  process.stdout.write(`${JSON.stringify({ p50: at(0.5), p99: at(0.99) })}\n`)
  delays = []
  waiting = paths.length
}

/** Events contain the time at which they were written. Returns what may be the begin of the next one. */
function time(received: string): string {
  const arrived = performance.timeOrigin + performance.now()
  let last = 0
  for (const { 0: found, 1: said, index } of received.matchAll(/"text\.delta".*?@([\d.]+) /g)) {
    last = index + found.length
    delays.push(arrived - Number(said))
  }
  return received.slice(Math.max(last, received.length - 1_000))
}
