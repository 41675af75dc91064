// Stands in for a live agent: plays its side of a recorded transcript, and waits where the other side spoke.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [transcript] = process.argv.slice(2)
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
/** Ids that the recorded client chose, as this client chose them. */
const ids = new Map()

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
const idOf = (message) => message.id ?? message.request_id
const sortOf = ({ method, type, request }) => method ?? `${type ?? 'answer'} ${request?.subtype ?? ''}`

/** Reads on until the client says what it said in the recording; what else it asks for is granted. */
async function hear(recorded) {
  for (;;) {
    const { value, done } = await lines.next()
    if (done) process.exit(0)
    const message = JSON.parse(value)
    if (sortOf(message) === sortOf(recorded)) {
      ids.set(idOf(recorded), idOf(message))
      return
    }
    if (message.method !== undefined && message.id !== undefined) say({ id: message.id, result: {} })
  }
}

const renamed = (id) => ids.get(id) ?? id

function answersOurs(message) {
  if (message.method === undefined && message.id !== undefined) return { ...message, id: renamed(message.id) }
  if (message.type !== 'control_response') return message
  const { response } = message
  return { ...message, response: { ...response, request_id: renamed(response.request_id) } }
}

for (const line of readFileSync(transcript, 'utf8').trimEnd().split('\n')) {
  const { dir, msg } = JSON.parse(line)
  if (dir === 'in') await hear(msg)
  else if (msg !== undefined) say(answersOurs(msg))
}
for (;;) if ((await lines.next()).done) break
