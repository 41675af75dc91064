// Stands in for a live claude: the first word of the prompt says what it does.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const session = 'native-1'
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
const text = (content) =>
  say({ type: 'assistant', message: { id: 'msg_1', model: 'm', content: [{ type: 'text', text: content }] } })
const end = (result, more = {}) =>
  say({ type: 'result', subtype: 'success', is_error: false, result, session_id: session, ...more })
const ask = (tool, input) => {
  const id = `toolu_${tool}`
  const content = [{ type: 'tool_use', id, name: tool, input }]
  say({ type: 'assistant', message: { id: `msg_${tool}`, model: 'm', content } })
  const request = { subtype: 'can_use_tool', tool_name: tool, input, tool_use_id: id }
  say({ type: 'control_request', request_id: `ask-${tool}`, request })
}
const delta = (part) =>
  say({
    type: 'stream_event',
    event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: part } },
  })

let stubborn = false
let asking
let images

const scenes = {
  say: (words) => {
    text(words)
    end(words)
  },
  /** Tells how it was started. */
  tell: () => {
    const told = JSON.stringify({ argv: process.argv.slice(2), cwd: process.cwd(), pid: process.pid })
    text(told)
    end(told)
  },
  /** Tells the images of the prompt. */
  images: () => {
    const told = JSON.stringify(images)
    text(told)
    end(told)
  },
  /** Asks before it uses a tool, and ends with the answer it got. */
  use: (tool) => {
    asking = tool
    ask(tool, tool === 'AskUserQuestion' ? { questions: [] } : { command: 'rm x' })
  },
  /** Asks, and takes its question back at once. */
  withdraw: () => {
    ask('Bash', { command: 'rm x' })
    say({ type: 'control_cancel_request', request_id: 'ask-Bash' })
  },
  /** Works for ever, with a tool of its own in a session of its own. */
  hang: () => {
    const tool = spawn('sleep', ['600'], { stdio: 'ignore', detached: true })
    text(JSON.stringify({ pid: process.pid, tool: tool.pid }))
  },
  /** The same, and it does not listen to its protocol. */
  stubborn: () => {
    stubborn = true
    scenes.hang()
  },
  /** Writes as fast as it can. */
  flood: (count) => {
    text(JSON.stringify({ pid: process.pid }))
    say({ type: 'stream_event', event: { type: 'message_start', message: { id: 'msg_2', content: [] } } })
    const block = { type: 'text', text: '' }
    say({ type: 'stream_event', event: { type: 'content_block_start', index: 0, content_block: block } })
    for (let n = 0; n < Number(count); n++) delta(`${n} `)
    end('flooded')
  },
  die: () => process.exit(3),
  break: () => process.stdout.write('not json\n', () => process.exit(0)),
}

function hear(message) {
  if (message.type === 'user') {
    const { content } = message.message
    const [word, ...rest] = content.find(({ type }) => type === 'text').text.split(' ')
    images = content.filter(({ type }) => type === 'image').map(({ source }) => source)
    say({ type: 'system', subtype: 'init', session_id: session, model: 'm', tools: ['Bash'], cwd: '/' })
    scenes[word](rest.join(' '))
  } else if (message.type === 'control_response' && asking) {
    const { response } = message.response
    const content = [{ type: 'tool_result', tool_use_id: `toolu_${asking}`, content: 'x' }]
    if (response.behavior === 'deny')
      content[0] = { ...content[0], content: response.message, is_error: true }
    say({ type: 'user', message: { role: 'user', content } })
    end(JSON.stringify(response))
  } else if (message.request?.subtype === 'interrupt' && !stubborn) {
    const response = { subtype: 'success', request_id: message.request_id, response: { still_queued: [] } }
    say({ type: 'control_response', response })
    end(undefined, {
      subtype: 'error_during_execution',
      is_error: true,
      terminal_reason: 'aborted_streaming',
    })
  }
}

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => hear(JSON.parse(line)))
// It ends with its input, unless it is made to wait for a signal.
lines.on('close', () => stubborn || process.exit(0))
