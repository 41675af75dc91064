// Stands in for an agent that is driven live: plays its side of a recorded transcript and waits, wherever something
// was said to it then, until something is said to it now. Ids of requests are taken from what is said now.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [file] = process.argv.slice(2)
const transcript = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
const heard = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const ids = new Map()

const idOf = (message) => message.id ?? message.request_id
const isRequest = (message) =>
  idOf(message) !== undefined && (message.method !== undefined || message.request !== undefined)

for (const { dir, msg } of transcript) {
  if (dir === 'in') {
    const { value, done } = await heard.next()
    if (done) break
    const now = JSON.parse(value)
    if (isRequest(msg)) ids.set(JSON.stringify(idOf(msg)), idOf(now))
  } else {
    process.stdout.write(`${JSON.stringify(renamed(msg))}\n`)
  }
}
// The rest of the conversation was never recorded, so it ends when nobody talks any more.
for await (const _ of heard);

function renamed(message) {
  const now = (id) => ids.get(JSON.stringify(id)) ?? id
  if (message.method === undefined && message.id !== undefined) return { ...message, id: now(message.id) }
  if (message.type !== 'control_response') return message
  return { ...message, response: { ...message.response, request_id: now(message.response.request_id) } }
}
