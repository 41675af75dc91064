/**
 * A live Claude Code for tests with several servers. A prompt with `ask` asks for permission, one with `wait` works
 * until it is interrupted, every other one is done at once. Its life is appended to a file, one JSON line each.
 */
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [file] = process.argv.slice(2)
const note = (event, more = {}) =>
  appendFileSync(file, `${JSON.stringify({ event, pid: process.pid, at: Date.now(), ...more })}\n`)
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
const done = (text) => say({ type: 'result', subtype: 'success', is_error: false, result: text })
const text = (said) =>
  say({
    type: 'assistant',
    message: { id: `msg_${process.pid}_${said}`, model: 'm', content: [{ type: 'text', text: said }] },
  })

note('started')
// Told before the parent is gone: a signal of the guard is the end that the tests are about.
process.on('SIGTERM', () => {
  note('stopped')
  process.exit(0)
})
say({ type: 'system', subtype: 'init', session_id: 'native', model: 'm', tools: [] })
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.type === 'control_request') {
    const response = { subtype: 'success', request_id: message.request_id, response: { commands: [] } }
    say({ type: 'control_response', response })
    if (message.request.subtype === 'interrupt') {
      say({
        type: 'result',
        subtype: 'error_during_execution',
        is_error: true,
        terminal_reason: 'aborted_streaming',
      })
    }
  } else if (message.type === 'control_response') {
    note('answered', { behavior: message.response.response.behavior })
    text('answered')
    done('answered')
  } else if (message.type === 'user') {
    const prompt = message.message.content[0].text
    note('prompt', { prompt })
    text(`heard ${prompt}`)
    if (prompt.includes('ask')) {
      const input = { command: 'rm x' }
      const request = { subtype: 'can_use_tool', tool_name: 'Bash', tool_use_id: 't1', input }
      say({ type: 'control_request', request_id: `r-${process.pid}-${Date.now()}`, request })
    } else if (!prompt.includes('wait')) done(prompt)
  }
}
