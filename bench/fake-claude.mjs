// Stands in for claude: answers the handshake, and the first prompt with the stream that a variable names.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

for await (const line of createInterface({ input: process.stdin })) {
  const { type, request_id: id } = JSON.parse(line)
  if (type === 'control_request') {
    const response = { subtype: 'success', request_id: id, response: { commands: [], models: [] } }
    process.stdout.write(`${JSON.stringify({ type: 'control_response', response })}\n`)
  } else if (type === 'user') {
    createReadStream(process.env.BENCH_STREAM ?? '').pipe(process.stdout, { end: false })
  }
}
