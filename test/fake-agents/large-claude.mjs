/**
 * A Claude Code with messages over 1 MiB. It reads a document; a prompt with `ask` asks for permission with a
 * large input first, one with `large result` ends with a large result. Its answers to permission requests are appended
 * to a file.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [file, ...args] = process.argv.slice(2)
const document = 'JVBERi0x'.repeat(75_000)
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
const use = (id, name, input) =>
  say({
    type: 'assistant',
    message: { id: `m-${id}`, model: 'm', content: [{ type: 'tool_use', id, name, input }] },
  })

function work(prompt) {
  use('t1', 'Read', { file_path: '/a.pdf' })
  const content = [{ type: 'tool_result', tool_use_id: 't1', content: `PDF file read: /a.pdf ${document}` }]
  const file = { filePath: '/a.pdf', base64: document }
  say({ type: 'user', message: { role: 'user', content }, tool_use_result: { type: 'pdf', file } })
  if (!prompt.includes('ask')) return done(prompt)
  const input = { file_path: '/b', content: document + document }
  const request = { subtype: 'can_use_tool', tool_name: 'Write', tool_use_id: 't2', input }
  say({ type: 'control_request', request_id: 'r1', request })
}

function done(prompt) {
  const result = prompt.includes('large result') ? document + document : 'done'
  say({ type: 'result', subtype: 'success', is_error: false, result })
}

say({ type: 'system', subtype: 'init', session_id: 'native', model: 'm', tools: [] })
if (args.includes('--input-format=stream-json')) {
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line)
    if (message.type === 'control_request') {
      const response = { subtype: 'success', request_id: message.request_id, response: { commands: [] } }
      say({ type: 'control_response', response })
    } else if (message.type === 'control_response') {
      appendFileSync(file, `${JSON.stringify(message.response.response)}\n`)
      done('')
    } else if (message.type === 'user') work(message.message.content[0].text)
  }
} else work(readFileSync(0, 'utf8'))
