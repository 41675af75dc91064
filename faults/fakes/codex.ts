import { randomUUID } from 'node:crypto'
import { Actor, type Tongue } from './actor.ts'
import type { Ending, History } from './history.ts'
import { lineWriter, readAll, readLines } from './lines.ts'
import { type Native, textAt } from './native.ts'

type Say = (message: Native) => void

/** `codex app-server`: JSON-RPC over stdio. */
export async function codexLive(history: History): Promise<void> {
  const say = lineWriter(history)
  let threadId: string = randomUUID()
  const turns = new Map<string, string>()
  const asked = new Map<number, string>()
  const actor = new Actor(
    history,
    tongueOf(say, () => threadId, turns, asked),
  )
  await readLines((message) => {
    const { id, method } = message
    if (typeof id === 'number' && method === undefined) {
      const call = asked.get(id)
      const accepted = textAt(message, 'result', 'decision').startsWith('accept')
      if (call !== undefined) actor.answer(call, accepted ? 'allow' : 'deny')
      return
    }
    if (method === 'thread/resume') threadId = textAt(message, 'params', 'threadId')
    if (method === 'thread/start' || method === 'thread/resume')
      say({ id, result: { thread: { id: threadId }, model: 'm' } })
    else if (method === 'turn/start') {
      const text = textAt(message, 'params', 'input', 0, 'text')
      const turn = randomUUID()
      turns.set(nameOf(text), turn)
      say({ id, result: { turn: { id: turn, items: [], status: 'inProgress' } } })
      void actor.prompt(text)
    } else if (id !== undefined) {
      say({ id, result: method === 'thread/backgroundTerminals/list' ? { data: [] } : {} })
      if (method === 'turn/interrupt') actor.interrupt()
    }
  })
}

const nameOf = (text: string) => text.split(' ')[0] ?? ''

function tongueOf(
  say: Say,
  thread: () => string,
  turns: ReadonlyMap<string, string>,
  asked: Map<number, string>,
): Tongue {
  let itemId = ''
  const tell = (method: string, name: string, more: Native) =>
    say({ method, params: { threadId: thread(), turnId: turns.get(name), ...more } })
  const turnOf = (name: string, status: string) => ({
    turn: { id: turns.get(name), items: [], status, error: null },
  })
  const command = (call: string) => ({
    type: 'commandExecution',
    id: call,
    command: call,
    cwd: '/',
    commandActions: [],
  })
  return {
    begin: (name) => tell('turn/started', name, turnOf(name, 'inProgress')),
    openMessage(name) {
      itemId = `msg_${randomUUID()}`
      tell('item/started', name, { item: { type: 'agentMessage', id: itemId, text: '' } })
    },
    piece: (name, delta) => tell('item/agentMessage/delta', name, { itemId, delta }),
    closeMessage: (name, text) =>
      tell('item/completed', name, { item: { type: 'agentMessage', id: itemId, text } }),
    ask(name, call) {
      tell('item/started', name, { item: { ...command(call), status: 'inProgress' } })
      const id = asked.size
      asked.set(id, call)
      const params = { threadId: thread(), turnId: turns.get(name), itemId: call, command: call, cwd: '/' }
      say({
        id,
        method: 'item/commandExecution/requestApproval',
        params: {
          kind: 'command',
          ...params,
          commandActions: [],
          availableDecisions: ['accept', 'decline', 'cancel'],
        },
      })
    },
    tool: (name, call, ran) =>
      tell('item/completed', name, {
        item: { ...command(call), status: ran ? 'completed' : 'declined', exitCode: ran ? 0 : null },
      }),
    end: (name, how) =>
      tell('turn/completed', name, turnOf(name, how === 'done' ? 'completed' : 'interrupted')),
  }
}

/** `codex exec --json`: whole messages, then the exit. */
export async function codexOnce(history: History, argv: readonly string[]): Promise<void> {
  const say = lineWriter(history)
  const resumed = argv.indexOf('resume')
  const thread_id = (resumed >= 0 && argv[resumed + 1]) || randomUUID()
  const usage = { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 }
  let items = 0
  const whole = (_: string, text: string) =>
    say({ type: 'item.completed', item: { id: `item_${items++}`, type: 'agent_message', text } })
  await new Actor(history, {
    begin() {
      say({ type: 'thread.started', thread_id })
      say({ type: 'turn.started' })
    },
    openMessage: nothing,
    piece: nothing,
    closeMessage: whole,
    tool: nothing,
    end: (_: string, how: Ending) => how === 'done' && say({ type: 'turn.completed', usage }),
  }).prompt(await readAll())
}

export const nothing = () => undefined
