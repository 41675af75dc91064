import { randomUUID } from 'node:crypto'
import { Actor, type Tongue } from './actor.ts'
import type { History } from './history.ts'
import { lineWriter, readLines } from './lines.ts'
import { type Native, textAt } from './native.ts'

const OPTIONS = [
  { optionId: 'once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
]

/** The Agent Client Protocol over stdio, with these modes to choose from. */
export async function acp(history: History, modes: readonly string[] = []): Promise<void> {
  const offered = modes.length > 0 && {
    modes: { currentModeId: modes[0], availableModes: modes.map((id) => ({ id, name: id })) },
  }
  const write = lineWriter(history)
  const say = (message: Native) => write({ jsonrpc: '2.0', ...message })
  const calls = new Map<string, unknown>()
  const asked = new Map<unknown, string>()
  let sessionId: string = randomUUID()
  const actor = new Actor(
    history,
    tongueOf(say, () => sessionId, calls, asked),
  )
  await readLines((message) => {
    const { id, method } = message
    if (method === undefined) {
      const outcome = textAt(message, 'result', 'outcome', 'optionId')
      const call = asked.get(id)
      if (call !== undefined)
        actor.answer(call, outcome === 'once' ? 'allow' : outcome === 'no' ? 'deny' : 'cancelled')
      return
    }
    switch (method) {
      case 'initialize':
        return say({
          id,
          result: { protocolVersion: 1, agentCapabilities: { loadSession: true }, authMethods: [] },
        })
      case 'session/new':
        return say({ id, result: { sessionId, ...offered } })
      case 'session/load':
        sessionId = textAt(message, 'params', 'sessionId')
        say({ id, result: { ...offered } })
        return say({
          method: 'session/update',
          params: {
            sessionId,
            update: { sessionUpdate: 'available_commands_update', availableCommands: [] },
          },
        })
      case 'session/prompt': {
        const text = textAt(message, 'params', 'prompt', 0, 'text')
        calls.set(text.split(' ')[0] ?? '', id)
        return void actor.prompt(text)
      }
      case 'session/cancel':
        return actor.interrupt()
      default:
        return id === undefined ? undefined : say({ id, result: {} })
    }
  })
}

function tongueOf(
  say: (message: Native) => void,
  session: () => string,
  calls: ReadonlyMap<string, unknown>,
  asked: Map<unknown, string>,
): Tongue {
  const update = (content: Native) =>
    say({ method: 'session/update', params: { sessionId: session(), update: content } })
  return {
    begin: () => undefined,
    openMessage: () => undefined,
    piece: (_, text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }),
    closeMessage: () => undefined,
    ask(_, call) {
      const tool = { toolCallId: call, title: call, kind: 'execute', rawInput: { command: call } }
      update({ sessionUpdate: 'tool_call', ...tool, status: 'pending' })
      asked.set(asked.size, call)
      const params = { sessionId: session(), toolCall: tool, options: OPTIONS }
      say({ id: asked.size - 1, method: 'session/request_permission', params })
    },
    tool: (_, call, ran) =>
      update({ sessionUpdate: 'tool_call_update', toolCallId: call, status: ran ? 'completed' : 'failed' }),
    end: (name, how) =>
      say({ id: calls.get(name), result: { stopReason: how === 'done' ? 'end_turn' : 'cancelled' } }),
  }
}
