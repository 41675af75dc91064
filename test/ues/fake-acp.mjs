// Stands in for an agent that speaks ACP: asks for a permission that can be given for good, or not at all.
import { createInterface } from 'node:readline'

const sessionId = 'native-1'
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const update = (update) => say({ method: 'session/update', params: { sessionId, update } })
let prompt

const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
  'session/new': () => ({ sessionId }),
  'session/set_mode': () => ({}),
}

function hear({ id, method, result }) {
  if (method === 'session/prompt') {
    prompt = id
    const toolCall = {
      toolCallId: 't1',
      title: 'clean up',
      kind: 'execute',
      status: 'pending',
      rawInput: { command: 'rm x' },
    }
    const options = [
      { optionId: 'always', name: 'Always', kind: 'allow_always' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ]
    update({ sessionUpdate: 'tool_call', ...toolCall })
    say({ id: 1_000, method: 'session/request_permission', params: { sessionId, toolCall, options } })
  } else if (id === 1_000) {
    update({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'failed' })
    const text = JSON.stringify(result.outcome)
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
    say({ id: prompt, result: { stopReason: 'end_turn' } })
  } else if (answers[method]) {
    say({ id, result: answers[method]() })
  }
}

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => hear(JSON.parse(line)))
lines.on('close', () => process.exit(0))
