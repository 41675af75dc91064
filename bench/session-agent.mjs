// Stands in for claude: answers the handshake, and each prompt with the next of the streams that a variable names, at a
// rate of lines a second if there is one. Lines in time have the time at which they were written in their text.
import { createReadStream, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const { BENCH_STREAM = '', BENCH_RATE = '0' } = process.env
const streams = BENCH_STREAM.split(':')
const rate = Number(BENCH_RATE)
const TEXT = '"type":"text_delta","text":"'

function inTime(lines) {
  const start = performance.now()
  let said = 0
  const timer = setInterval(() => {
    const due = Math.min(lines.length, ((performance.now() - start) / 1000) * rate)
    for (; said < due; said++) {
      const at = `${TEXT}@${performance.timeOrigin + performance.now()} `
      process.stdout.write(`${lines[said].replace(TEXT, at)}\n`)
    }
    if (said === lines.length) clearInterval(timer)
  }, 5)
}

for await (const line of createInterface({ input: process.stdin })) {
  const { type, request_id: id } = JSON.parse(line)
  if (type === 'control_request') {
    const response = { subtype: 'success', request_id: id, response: { commands: [], models: [] } }
    process.stdout.write(`${JSON.stringify({ type: 'control_response', response })}\n`)
  } else if (type === 'user') {
    const stream = streams.shift() ?? ''
    if (rate > 0) inTime(readFileSync(stream, 'utf8').trim().split('\n'))
    else createReadStream(stream).pipe(process.stdout, { end: false })
  }
}
