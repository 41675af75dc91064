/** Claude Code, live and one-shot, that says one text, waits until the file that it was given exists, and then ends its turn. */
import { existsSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'

const [file] = process.argv.slice(2)
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
const text = (id, said) =>
  say({ type: 'assistant', message: { id, model: 'm', content: [{ type: 'text', text: said }] } })

function whenItExists() {
  const { promise, resolve } = Promise.withResolvers()
  const watcher = watch(dirname(file), () => existsSync(file) && resolve())
  if (existsSync(file)) resolve()
  return promise.finally(() => watcher.close())
}

async function work() {
  text('m1', 'before')
  await whenItExists()
  text('m2', `after, still as ${process.pid}`)
  say({ type: 'result', subtype: 'success', is_error: false, result: 'done' })
}

say({ type: 'system', subtype: 'init', session_id: 'native', model: 'm', tools: [] })
if (process.argv.includes('--input-format=stream-json')) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { type, request_id } = JSON.parse(line)
    if (type === 'control_request')
      say({ type: 'control_response', response: { subtype: 'success', request_id, response: {} } })
    else if (type === 'user') await work()
  }
} else await work()
