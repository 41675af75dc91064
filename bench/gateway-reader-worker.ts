import { createHash } from 'node:crypto'
import { get } from 'node:http'

/**
 * Readers in a separate process: `url count`. Prints `open` when all are connected, `turn` when a turn has ended, and
 * its measurements at the end.
 */
const [url = '', count = '1'] = process.argv.slice(2)
const now = () => performance.timeOrigin + performance.now()
const delays: number[] = []
const digests = new Set<string>()
const TURN_END = Buffer.from('"type":"turn.completed"')
let bytes = 0
let opened = 0

const streams = Array.from({ length: Number(count) }, (_, index) => read(index === 0))
await Promise.all(streams)
delays.sort((a, b) => a - b)
const at = (part: number) => delays[Math.floor(delays.length * part)] ?? 0
process.stdout.write(`${JSON.stringify({ bytes, digests: digests.size, p50: at(0.5), p99: at(0.99) })}\n`)

function read(isTimed: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { accept: 'text/event-stream' }, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
      if (++opened === Number(count)) process.stdout.write('open\n')
      let rest = ''
      let tail = Buffer.alloc(0)
      const digest = createHash('sha1')
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        digest.update(chunk)
        if (!isTimed) return
        rest = time(rest + chunk.toString('latin1'))
        const searched = Buffer.concat([tail, chunk])
        if (searched.includes(TURN_END)) process.stdout.write('turn\n')
        tail = searched.subarray(1 - TURN_END.length)
      })
      response.on('end', () => {
        digests.add(digest.digest('hex'))
        resolve()
      })
      response.on('error', reject)
    })
    request.on('error', reject)
  })
}

/** Deltas of the paced agent contain the time at which they were written. */
function time(text: string): string {
  const end = text.lastIndexOf('\n\n')
  if (end < 0) return text
  const arrived = now()
  for (const [, said] of text.slice(0, end).matchAll(/text.delta.*?@([\d.]+) /g)) {
    delays.push(arrived - Number(said))
  }
  return text.slice(end)
}
