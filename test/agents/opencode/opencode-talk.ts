import { createHash } from 'node:crypto'
import type { Write } from '../../../src/agents/agent.ts'
import { opencode } from '../../../src/agents/opencode/agent.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import {
  type AnswerCommand,
  type Command,
  Event,
  type Policy,
  type SessionOptions,
} from '../../../src/model/index.ts'
import { Conversation } from '../../../src/sessions/machine/conversation.ts'

/** A server that is driven by us, without a process and without a socket. */
export class Talk {
  readonly events: Event[] = []
  readonly calls: Write[] = []
  readonly conversation: Conversation

  constructor(policy: Partial<Policy> = {}, options: SessionOptions = {}, resume?: string) {
    const recipe = opencode.launches.live
    if (!recipe) throw new Error('opencode has no live launch')
    this.conversation = new Conversation({
      agent: 'opencode',
      recipe,
      start: {
        launch: 'live',
        cwd: '/project',
        policy: { approval: 'ask', sandbox: 'none', ...policy },
        options,
        ...(resume !== undefined && { resume }),
      },
      digest: (text) => createHash('sha256').update(text).digest('hex'),
      now: () => 0,
      emit: (event) => this.events.push(Event.parse(event)),
    })
    this.conversation.launch()
    this.command({ type: 'open', ...(resume !== undefined && { resume }) })
  }

  command(command: Command) {
    const step = this.conversation.command(command)
    this.calls.push(...step.writes)
    return step
  }

  prompt(text: string) {
    this.conversation.begin(this.conversation.accept(), text)
    return this.command({ type: 'prompt', text })
  }

  answer(answer: AnswerCommand) {
    const step = this.conversation.answer(answer)
    this.calls.push(...step.writes)
    return step
  }

  /** What came back over HTTP. */
  http(tag: string, status: number, body: unknown = {}): void {
    this.calls.push(...this.conversation.frame(jsonFrame('http', JSON.stringify({ tag, status, body }))))
  }

  sse(type: string, properties: object): void {
    this.line(JSON.stringify({ id: 'evt', type, properties }))
  }

  line(text: string): void {
    this.calls.push(...this.conversation.frame(jsonFrame('sse', text)))
  }

  message(id: string, role: string, more: object = {}, sessionID = 'ses_1'): void {
    this.sse('message.updated', { sessionID, info: { id, role, time: {}, ...more } })
  }

  part(part: object, messageID = 'msg_a', sessionID = 'ses_1'): void {
    this.sse('message.part.updated', { sessionID, part: { messageID, sessionID, ...part } })
  }

  delta(partID: string, delta: string, messageID = 'msg_a', sessionID = 'ses_1'): void {
    this.sse('message.part.delta', { sessionID, messageID, partID, field: 'text', delta })
  }

  /** A call that waits for a person, whether or not it has started. */
  ask(id: string, callID: string, sessionID = 'ses_1'): void {
    this.asked(id, callID, {}, sessionID)
    this.sse('server.heartbeat', {})
  }

  /** The frame of a request alone. */
  asked(id: string, callID: string, more: object = {}, sessionID = 'ses_1'): void {
    const tool = { messageID: 'msg_a', callID }
    const asked = { permission: 'bash', patterns: ['ls'], always: ['ls *'], metadata: { command: 'ls' } }
    this.sse('permission.asked', { id, sessionID, ...asked, ...more, tool })
  }

  idle(sessionID = 'ses_1'): void {
    this.sse('session.idle', { sessionID })
  }

  of<Type extends Event['type']>(type: Type): Extract<Event, { type: Type }>[] {
    return this.events.filter((event): event is Extract<Event, { type: Type }> => event.type === type)
  }
}

/** A talk whose session is open and whose first prompt is being answered in `msg_a`. */
export function working(policy?: Partial<Policy>, options?: SessionOptions): Talk {
  const talk = new Talk(policy, options)
  talk.http('session', 200, { id: 'ses_1', version: '1.18.33' })
  talk.prompt('Go')
  talk.http('prompt', 204)
  talk.message('msg_u', 'user')
  talk.part({ id: 'prt_u', type: 'text', text: 'Go' }, 'msg_u')
  talk.message('msg_a', 'assistant')
  return talk
}

export const done = { time: { completed: 1 } }
export const call = (status: string, more: object = {}) => ({
  id: 'prt_t',
  type: 'tool',
  tool: 'bash',
  callID: 'call_1',
  state: { status, input: { command: 'ls' }, ...more },
})
