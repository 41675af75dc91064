import { randomUUID } from 'node:crypto'
import { GATE_TITLE } from '../../src/agents/pi/gate.ts'
import { Actor, type Tongue } from './actor.ts'
import type { History } from './history.ts'
import { lineWriter, readAll, readLines } from './lines.ts'
import { type Native, textAt } from './native.ts'

type Say = (message: Native) => void

/** `pi --mode rpc` or `--mode json`; the events are the same, only the first one takes commands. */
export async function pi(history: History, argv: readonly string[], isLive: boolean): Promise<void> {
  const say = lineWriter(history)
  const resumed = argv.indexOf('--session')
  const sessionId = (resumed >= 0 && argv[resumed + 1]) || randomUUID()
  const asked = new Map<string, string>()
  const actor = new Actor(history, tongueOf(say, isLive ? asked : undefined))
  if (!isLive) {
    say({ type: 'session', id: sessionId })
    return actor.prompt(await readAll())
  }
  await readLines((message) => take(actor, say, asked, sessionId, message))
}

function take(
  actor: Actor,
  say: Say,
  asked: ReadonlyMap<string, string>,
  sessionId: string,
  message: Native,
): void {
  const { type, id } = message
  const done = (data?: Native) =>
    say({ type: 'response', command: type, id, success: true, ...(data && { data }) })
  switch (type) {
    case 'extension_ui_response': {
      const call = asked.get(String(id))
      const allowed = textAt(message, 'value').includes('"allow":true')
      if (call !== undefined)
        actor.answer(call, message.cancelled === true ? 'cancelled' : allowed ? 'allow' : 'deny')
      return
    }
    case 'prompt':
      done({ disposition: 'started' })
      void actor.prompt(textAt(message, 'message'))
      return
    case 'abort':
      actor.interrupt()
      done()
      return
    case 'get_state':
      done({ sessionId, model: { provider: 'p', id: 'm' } })
      return
    default:
      done({ models: [], commands: [] })
  }
}

function tongueOf(say: Say, asked: Map<string, string> | undefined): Tongue {
  const role = 'assistant'
  let running = ''
  return {
    begin(name, text) {
      running = name
      say({ type: 'agent_start' })
      say({ type: 'message_start', message: { role: 'user', content: [{ type: 'text', text }] } })
    },
    openMessage: () => say({ type: 'message_start', message: { role, content: [], stopReason: 'pending' } }),
    piece: (_, delta) =>
      say({
        type: 'message_update',
        assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta },
      }),
    closeMessage: (_, text) =>
      say({ type: 'message_end', message: { role, content: [{ type: 'text', text }], stopReason: 'stop' } }),
    ...(asked && {
      ask(_: string, call: string) {
        const input = { command: call }
        say({ type: 'tool_execution_start', toolCallId: call, toolName: 'bash', args: input })
        const id = randomUUID()
        asked.set(id, call)
        const placeholder = JSON.stringify({ toolCallId: call, toolName: 'bash', input })
        say({ type: 'extension_ui_request', id, method: 'input', title: GATE_TITLE, placeholder })
      },
    }),
    tool: (_, call, ran) =>
      say({
        type: 'tool_execution_end',
        toolCallId: call,
        toolName: 'bash',
        result: { content: [{ type: 'text', text: call }] },
        isError: !ran,
        ...(ran && { durationMs: 1 }),
      }),
    end(name, how) {
      // Its end names no prompt, so a prompt in the middle of another run could not be distinguished.
      if (name !== running) return
      say({ type: 'agent_end', messages: [], willRetry: false })
      say({ type: 'agent_settled', aborted: how !== 'done' })
    },
  }
}
