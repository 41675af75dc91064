import { connect, type Socket } from 'node:net'

/**
 * Subscribers in a separate process: `url transport count`. They read raw bytes, so that they cost less than the server.
 * Prints `open` when all are connected, and the delays of some of them at the end of the turn.
 */
const [url = '', transport = '', count = '1'] = process.argv.slice(2)
const { hostname, port, pathname } = new URL(url)
const now = () => performance.timeOrigin + performance.now()
const SAMPLE = 20
const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
const HEADERS =
  transport === 'socket'
    ? [...upgrade, `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`]
    : ['Accept: text/event-stream']

const delays: number[] = []
let messages = 0
const readers = Array.from({ length: Number(count) }, (_, index) =>
  subscribe(index % Math.ceil(Number(count) / SAMPLE) === 0),
)
const sockets = await Promise.all(readers.map(({ opened }) => opened))
process.stdout.write('open\n')
await Promise.all(readers.map(({ ended }) => ended))
delays.sort((a, b) => a - b)
const at = (part: number) => delays[Math.floor(delays.length * part)] ?? 0
process.stdout.write(`${JSON.stringify({ messages, p50: at(0.5), p99: at(0.99) })}\n`)
for (const socket of sockets) socket.destroy()

function subscribe(isTimed: boolean): { opened: Promise<Socket>; ended: Promise<void> } {
  const opened = Promise.withResolvers<Socket>()
  const ended = Promise.withResolvers<void>()
  const socket = connect(Number(port), hostname)
  socket.on('error', opened.reject)
  socket.write([`GET ${pathname} HTTP/1.1`, `Host: ${hostname}:${port}`, ...HEADERS, '', ''].join('\r\n'))
  socket.once('data', () => opened.resolve(socket))
  let rest = ''
  socket.on('data', (chunk: Buffer) => {
    const text = rest + chunk.toString('latin1')
    const arrived = now()
    let last = 0
    for (const { 0: found, 1: said, index } of text.matchAll(/"text\.delta".*?@([\d.]+) /g)) {
      messages++
      last = index + found.length
      if (isTimed) delays.push(arrived - Number(said))
    }
    if (text.includes('"turn.completed"', last)) ended.resolve()
    rest = text.slice(Math.max(last, text.length - 1_000))
  })
  return { opened: opened.promise, ended: ended.promise }
}
