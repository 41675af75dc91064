// Stands in for claude: answers the handshake, and each prompt with the next of the streams that a variable names, or
// line by line in time.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

const { BENCH_STREAM = '', BENCH_RATE = '' } = process.env
const streams = BENCH_STREAM.split(':')
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const event = (value) =>
  say({ type: 'stream_event', event: value, session_id: 's', parent_tool_use_id: null })

/** The number of deltas per second, for ten seconds. Each contains the time at which it was written. */
function tick(rate) {
  event({ type: 'message_start', message: { id: 'm', role: 'assistant', model: 'm', content: [] } })
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
  const start = performance.now()
  let said = 0
  const timer = setInterval(() => {
    const due = Math.min(rate * 10, ((performance.now() - start) / 1000) * rate)
    for (; said < due; said++) {
      const text = `@${performance.timeOrigin + performance.now()} ${'x'.repeat(180)}`
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
    }
    if (said < rate * 10) return
    clearInterval(timer)
    say({ type: 'result', subtype: 'success', is_error: false, result: '' })
  }, 1)
}

for await (const line of createInterface({ input: process.stdin })) {
  const { type, request_id } = JSON.parse(line)
  if (type === 'control_request') {
    const response = { subtype: 'success', request_id, response: { commands: [], models: [] } }
    say({ type: 'control_response', response })
  } else if (type === 'user' && BENCH_RATE !== '') tick(Number(BENCH_RATE))
  else if (type === 'user') createReadStream(streams.shift()).pipe(process.stdout, { end: false })
}
