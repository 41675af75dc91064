// Stands in for claude: writes a delta of text whenever a file changes, or asks for permission and waits.
import { readFileSync, watch } from 'node:fs'
import { createInterface } from 'node:readline'

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const event = (value) =>
  say({ type: 'stream_event', event: value, session_id: 's', parent_tool_use_id: null })

for await (const line of createInterface({ input: process.stdin })) {
  const { type, request_id, message } = JSON.parse(line)
  if (type === 'control_request') {
    say({
      type: 'control_response',
      response: { subtype: 'success', request_id, response: { commands: [], models: [] } },
    })
  } else if (type === 'user' && JSON.stringify(message).includes('ask')) {
    say({ type: 'system', subtype: 'init', session_id: 's', model: 'm', tools: [] })
    say({
      type: 'control_request',
      request_id: 'r1',
      request: { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'ls' }, tool_use_id: 't1' },
    })
  } else if (type === 'user') {
    say({ type: 'system', subtype: 'init', session_id: 's', model: 'm', tools: [] })
    event({ type: 'message_start', message: { id: 'm', role: 'assistant', model: 'm', content: [] } })
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
    let said = 0
    // The file has the number of deltas to write; a watcher may report one change several times.
    const write = () => {
      for (const wanted = Number(readFileSync(process.env.HOPS_FILE, 'utf8')); said < wanted; ) {
        event({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'text_delta', text: `word ${++said} ` },
        })
      }
    }
    watch(process.env.HOPS_FILE, write)
    write()
  }
}
