import { randomUUID } from 'node:crypto'
import { Actor, type Tongue } from './actor.ts'
import type { History } from './history.ts'
import { lineWriter, readAll, readLines } from './lines.ts'
import { type Native, textAt } from './native.ts'

/** `claude --output-format=stream-json`, live with control messages or for one turn. */
export async function claude(history: History, argv: readonly string[], isLive: boolean): Promise<void> {
  const session_id = argv.find((flag) => flag.startsWith('--resume='))?.slice(9) ?? randomUUID()
  const write = lineWriter(history)
  const say = (message: Native) => write({ session_id, uuid: randomUUID(), ...message })
  const ids = new Map<string, string>()
  const actor = new Actor(history, tongueOf(say, ids, isLive))
  if (!isLive) return actor.prompt(await readAll())
  await readLines((message) => take(actor, say, ids, message))
}

function take(actor: Actor, say: (message: Native) => void, ids: Map<string, string>, message: Native): void {
  const request_id = textAt(message, 'request_id')
  switch (message.type) {
    case 'control_request': {
      const response = { commands: [], models: [] }
      if (textAt(message, 'request', 'subtype') === 'interrupt') actor.interrupt()
      say({ type: 'control_response', response: { subtype: 'success', request_id, response } })
      return
    }
    case 'control_response': {
      const allowed = textAt(message, 'response', 'response', 'behavior') === 'allow'
      actor.answer(textAt(message, 'response', 'request_id'), allowed ? 'allow' : 'deny')
      return
    }
    case 'user': {
      const text = textAt(message, 'message', 'content', 0, 'text')
      ids.set(text.split(' ')[0] ?? '', textAt(message, 'uuid'))
      void actor.prompt(text)
    }
  }
}

/** Output names the prompt that it answers, as newer versions do. */
function tongueOf(
  write: (message: Native) => void,
  ids: ReadonlyMap<string, string>,
  isLive: boolean,
): Tongue {
  let id = ''
  let answered = ''
  const say = (message: Native) =>
    write({ ...message, ...(ids.has(answered) && { user_message_uuid: ids.get(answered) }) })
  const stream = (event: Native) => say({ type: 'stream_event', event, parent_tool_use_id: null })
  const content = (role: 'assistant' | 'user', block: Native) =>
    say({ type: role, message: { id, role, model: 'm', content: [block] }, parent_tool_use_id: null })
  return {
    begin(name) {
      answered = name
      say({ type: 'system', subtype: 'init', model: 'm', tools: [] })
    },
    openMessage() {
      id = `msg_${randomUUID()}`
      stream({ type: 'message_start', message: { id, role: 'assistant', model: 'm', content: [] } })
      stream({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
    },
    piece: (_, text) =>
      stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    closeMessage(_, text) {
      content('assistant', { type: 'text', text })
      stream({ type: 'content_block_stop', index: 0 })
      stream({ type: 'message_stop' })
    },
    ...(isLive && {
      ask(_: string, call: string) {
        id = `msg_${randomUUID()}`
        const input = { command: call }
        content('assistant', { type: 'tool_use', id: call, name: 'Bash', input })
        const request = { subtype: 'can_use_tool', tool_name: 'Bash', tool_use_id: call, input }
        say({ type: 'control_request', request_id: call, request })
      },
    }),
    tool: (_, call, ran) =>
      content('user', {
        type: 'tool_result',
        tool_use_id: call,
        content: ran ? call : 'The user refused this.',
        is_error: !ran,
      }),
    end(name, how) {
      const before = answered
      answered = name
      const aborted = { is_error: true, errors: [], terminal_reason: 'aborted_streaming' }
      say(
        how === 'done'
          ? { type: 'result', subtype: 'success', is_error: false, result: `${name} done` }
          : { type: 'result', subtype: 'error_during_execution', ...aborted },
      )
      answered = before
    },
  }
}
