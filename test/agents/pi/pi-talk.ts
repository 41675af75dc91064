import type { Exit, Start, Write } from '../../../src/agents/agent.ts'
import { pi } from '../../../src/agents/pi/agent.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import { type AnswerCommand, type Command, Event } from '../../../src/model/index.ts'
import { Conversation } from '../../../src/sessions/machine/conversation.ts'

type Of<T extends Event['type']> = Extract<Event, { type: T }>
type Native = Readonly<Record<string, unknown>>

/** A live conversation with pi in which the test says its lines; every event is checked against its schema. */
export class Talk {
  readonly events: Event[] = []
  readonly conversation: Conversation

  constructor(start: Partial<Start> = {}) {
    const recipe = pi.launches.live
    if (!recipe) throw new Error('pi has no live launch')
    this.conversation = new Conversation({
      agent: 'pi',
      recipe,
      start: {
        launch: 'live',
        cwd: '/project',
        policy: { approval: 'auto-all', sandbox: 'none' },
        options: {},
        ...start,
      },
      digest: (text) => `digest of ${text}`,
      now: () => 0,
      emit: (event) => this.events.push(Event.parse(JSON.parse(JSON.stringify(event)))),
    })
    this.conversation.launch()
  }

  /** What these lines of the agent made us say. */
  hear(...natives: Native[]): Event[] {
    const from = this.events.length
    for (const native of natives) this.conversation.frame(jsonFrame('stdout', JSON.stringify(native)))
    return this.events.slice(from)
  }

  /** A command and the lines it became. */
  tell(command: Command): unknown[] {
    const { writes, refused } = this.conversation.command(command)
    return refused ? [{ refused: refused.code }] : parsed(writes)
  }

  answer(requestId: string, answer: Omit<AnswerCommand, 'type' | 'requestId'>): unknown[] {
    const { writes, refused } = this.conversation.answer({ type: 'answer', requestId, ...answer })
    return refused ? [{ refused: refused.code }] : parsed(writes)
  }

  prompt(text = 'go', promptId?: string): unknown[] {
    this.conversation.begin(this.conversation.accept(), text, promptId)
    return this.tell({ type: 'prompt', text, ...(promptId !== undefined && { promptId }) })
  }

  exit(exit: Omit<Exit, 'cause'> = { code: 0 }): Event[] {
    const from = this.events.length
    this.conversation.exit(exit)
    return this.events.slice(from)
  }

  only<T extends Event['type']>(type: T): Of<T>[] {
    return this.events.filter((event): event is Of<T> => event.type === type)
  }
}

function parsed(writes: readonly Write[]): unknown[] {
  return writes.map((write) => (write.kind === 'text' ? JSON.parse(write.text) : write.kind))
}

/** A talk whose turn runs, with a call that waits. */
export function runningTalk(): Talk {
  const talk = new Talk()
  talk.prompt()
  talk.hear(
    answered('prompt', 'c1', { disposition: 'started' }),
    { type: 'agent_start' },
    user('go'),
    call('t1'),
  )
  return talk
}

export function answered(command: string, id: string, data?: Native): Native {
  return { type: 'response', command, id, success: true, ...(data && { data }) }
}

export function user(text: string): Native {
  return { type: 'message_start', message: { role: 'user', content: [{ type: 'text', text }] } }
}

export function call(toolCallId: string, toolName = 'bash', args: Native = { command: 'ls' }): Native {
  return { type: 'tool_execution_start', toolCallId, toolName, args }
}

export function returned(toolCallId: string, text: string, more: Native = {}): Native {
  const result = { content: [{ type: 'text', text }] }
  return {
    type: 'tool_execution_end',
    toolCallId,
    toolName: 'bash',
    result,
    isError: false,
    durationMs: 1,
    ...more,
  }
}

export function dialog(id: string, method: string, more: Native): Native {
  return { type: 'extension_ui_request', id, method, ...more }
}

export function emitted(text: string, more: Native = {}): Native[] {
  const message = { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop', ...more }
  return [
    { type: 'message_start', message: { role: 'assistant', content: [], stopReason: 'pending' } },
    { type: 'message_end', message },
  ]
}

export const settled = (aborted = false): Native => ({ type: 'agent_settled', aborted })
