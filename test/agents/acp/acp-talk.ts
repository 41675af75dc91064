import type { Agent, Exit, Start, Write } from '../../../src/agents/agent.ts'
import { agents } from '../../../src/agents/index.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import { type AnswerCommand, type Command, DEFAULT_POLICY, Event } from '../../../src/model/index.ts'
import { Conversation } from '../../../src/sessions/machine/conversation.ts'
import { decodeFixture, fixtures } from '../fixtures.ts'

type Of<T extends Event['type']> = Extract<Event, { type: T }>
type Native = Readonly<Record<string, unknown>>

export function agentOf(id: string): Agent {
  const agent = agents.find((one) => one.id === id)
  if (!agent) throw new Error(`there is no agent ${id}`)
  return agent
}

/** A conversation in which the test plays the agent; every event is checked against its schema. */
export class Talk {
  readonly events: Event[] = []
  readonly conversation: Conversation

  constructor(agent = 'acp', start: Partial<Start> = {}) {
    const recipe = agentOf(agent).launches.live
    if (!recipe) throw new Error(`${agent} has no live launch`)
    this.conversation = new Conversation({
      agent,
      recipe,
      start: { launch: 'live', cwd: '/project', policy: DEFAULT_POLICY, options: {}, ...start },
      digest: (text) => `digest of ${text}`,
      now: () => 0,
      emit: (event) => this.events.push(Event.parse(JSON.parse(JSON.stringify(event)))),
    })
    this.conversation.launch()
  }

  /** One line of the agent, and what we wrote to it at once. */
  write(native: unknown): unknown[] {
    return parsed(this.conversation.frame(jsonFrame('stdout', JSON.stringify(native))))
  }

  /** What these lines of the agent made us say. */
  hear(...natives: unknown[]): Event[] {
    const from = this.events.length
    for (const native of natives) this.write(native)
    return this.events.slice(from)
  }

  tell(command: Command): unknown[] {
    const { writes, refused } = this.conversation.command(command)
    return refused ? [{ refused: refused.code }] : parsed(writes)
  }

  answer(requestId: string, answer: Omit<AnswerCommand, 'type' | 'requestId'>): unknown[] {
    const { writes, refused } = this.conversation.answer({ type: 'answer', requestId, ...answer })
    return refused ? [{ refused: refused.code }] : parsed(writes)
  }

  prompt(text = 'go'): unknown[] {
    this.conversation.begin(this.conversation.accept(), text)
    return this.tell({ type: 'prompt', text })
  }

  /** Opens a session and sends the first prompt; its id is the last of ours. */
  begin(opened: Native = { sessionId: 's1' }, name = 'nobody'): this {
    this.tell({ type: 'open' })
    this.prompt()
    this.write(result(1, { protocolVersion: 1, agentInfo: { name, version: '1' }, agentCapabilities: {} }))
    this.write(result(2, opened))
    return this
  }

  exit(exit: Omit<Exit, 'cause'> = { code: 0 }): Event[] {
    const from = this.events.length
    this.conversation.exit(exit)
    return this.events.slice(from)
  }

  only<T extends Event['type']>(type: T): Of<T>[] {
    return eventsOf(this.events, type)
  }
}

export function eventsOf<T extends Event['type']>(events: readonly Event[], type: T): Of<T>[] {
  return events.filter((event): event is Of<T> => event.type === type)
}

function parsed(writes: readonly Write[]): unknown[] {
  return writes.map((write) => (write.kind === 'text' ? JSON.parse(write.text) : write.kind))
}

export const result = (id: number, value: Native): Native => ({ jsonrpc: '2.0', id, result: value })

export const failure = (id: number, code: number, message: string, data?: unknown): Native => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data !== undefined && { data }) },
})

export function update(sessionUpdate: string, more: Native, sessionId = 's1'): Native {
  const params = { sessionId, update: { sessionUpdate, ...more } }
  return { jsonrpc: '2.0', method: 'session/update', params }
}

export function chunk(text: string, messageId?: string): Native {
  const content = { type: 'text', text }
  return update('agent_message_chunk', { content, ...(messageId !== undefined && { messageId }) })
}

export const OPTIONS = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'session', name: 'Yes, for this session', kind: 'allow_always' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
]

export function asks(id: number | string, toolCall: Native, options: unknown = OPTIONS): Native {
  const params = { sessionId: 's1', toolCall, options }
  return { jsonrpc: '2.0', id, method: 'session/request_permission', params }
}

/** The recordings of every program that speaks the protocol. */
export const recordings = fixtures.filter(({ program }) => program.startsWith('acp-'))

/** What a recording comes to. */
export function eventsIn(name: string): Event[] {
  const found = recordings.find((one) => one.name === name)
  if (!found) throw new Error(`there is no recording ${name}`)
  return decodeFixture(found).entries.map(({ event }) => event)
}
