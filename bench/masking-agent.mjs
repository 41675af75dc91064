// Stands in for claude: answers the handshake, and each prompt with one line of BENCH_BYTES bytes that contains every
// secret of its environment again and again.
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const { BENCH_BYTES = '0', ...environment } = process.env
const secrets = Object.entries(environment).flatMap(([name, value]) => (name.endsWith('_TOKEN') ? value : []))
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

async function sayLongLine(bytes) {
  // Every secret, the beginning of every secret, and text between them.
  const piece = secrets.map((secret) => `${secret} ${secret.slice(0, -1)} ${'x'.repeat(500)}`).join('')
  process.stdout.write('{"type":"assistant","text":"')
  for (let written = 0; written < bytes; written += piece.length) {
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain')
  }
  process.stdout.write('"}\n')
}

for await (const line of createInterface({ input: process.stdin })) {
  const { type, request_id } = JSON.parse(line)
  if (type === 'control_request') {
    const response = { subtype: 'success', request_id, response: { commands: [], models: [] } }
    say({ type: 'control_response', response })
  } else if (type === 'user') {
    await sayLongLine(Number(BENCH_BYTES))
    say({ type: 'result', subtype: 'success', is_error: false, result: 'done' })
  }
}
