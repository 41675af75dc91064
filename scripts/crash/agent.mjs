// Stands in for claude: streams an answer, starts a program that outlives it, and asks before it goes on.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const session_id = `native-${process.pid}`
const DELTAS = 40
let asked = 0
let message = 0
let answered = () => undefined
let turn = Promise.resolve()

const say = (line) => process.stdout.write(`${JSON.stringify({ session_id, ...line })}\n`)
const stream = (event) => say({ type: 'stream_event', event, parent_tool_use_id: null })

async function speak(text) {
  const id = `msg_${process.pid}_${++message}`
  const words = Array.from({ length: DELTAS }, (_, index) => `${text} ${index} `)
  stream({ type: 'message_start', message: { id, role: 'assistant', model: 'm', content: [] } })
  stream({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
  for (const word of words) {
    stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word } })
    if (word.length % 2 === 0) await sleep(1)
  }
  say({ type: 'assistant', message: { id, model: 'm', content: [{ type: 'text', text: words.join('') }] } })
  stream({ type: 'content_block_stop', index: 0 })
  stream({ type: 'message_stop' })
}

function ask() {
  const id = `${process.pid}-${++asked}`
  const request = {
    subtype: 'can_use_tool',
    tool_name: 'Bash',
    tool_use_id: `tool-${id}`,
    input: { command: 'ls' },
  }
  say({ type: 'control_request', request_id: id, request })
  return new Promise((resolve) => {
    answered = resolve
  })
}

async function answer(prompt) {
  // In a session of its own, as tools are: only its marker tells whose it is.
  spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref()
  say({ type: 'system', subtype: 'init', model: 'm', tools: [] })
  await speak(prompt)
  await ask()
  await speak(prompt)
  say({ type: 'result', subtype: 'success', is_error: false, result: prompt })
}

for await (const line of createInterface({ input: process.stdin })) {
  const { type, request_id, message: said } = JSON.parse(line)
  if (type === 'control_request') {
    say({
      type: 'control_response',
      response: { subtype: 'success', request_id, response: { commands: [], models: [] } },
    })
  } else if (type === 'control_response') answered()
  else if (type === 'user') {
    const text = typeof said.content === 'string' ? said.content : (said.content[0]?.text ?? '')
    turn = turn.then(() => answer(text))
  }
}
