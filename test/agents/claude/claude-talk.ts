import type { Exit, Start, Write } from '../../../src/agents/agent.ts'
import { claude } from '../../../src/agents/claude/agent.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import {
  type AnswerCommand,
  type Command,
  DEFAULT_POLICY,
  Event,
  type LaunchKind,
} from '../../../src/model/index.ts'
import { Conversation } from '../../../src/sessions/machine/conversation.ts'

type Of<T extends Event['type']> = Extract<Event, { type: T }>
type Native = Readonly<Record<string, unknown>>

/** A conversation with Claude in which the test says its lines; every event is checked against its schema. */
export class Talk {
  readonly events: Event[] = []
  /** The same events, each with its turn. */
  readonly entries: { event: Event; turn: number | undefined }[] = []
  readonly conversation: Conversation

  constructor(launch: LaunchKind = 'live', start: Partial<Start> = {}) {
    const recipe = claude.launches[launch]
    if (!recipe) throw new Error(`claude has no ${launch} launch`)
    this.conversation = new Conversation({
      agent: 'claude',
      recipe,
      start: { launch, cwd: '/project', policy: DEFAULT_POLICY, options: {}, ...start },
      digest: (text) => `digest of ${text}`,
      now: () => 0,
      emit: (event, turn) => {
        const checked = Event.parse(JSON.parse(JSON.stringify(event)))
        this.events.push(checked)
        this.entries.push({ event: checked, turn })
      },
    })
    this.conversation.launch()
  }

  /** What these lines of the agent made us say. */
  hear(...natives: unknown[]): Event[] {
    const from = this.events.length
    for (const native of natives) this.write(native)
    return this.events.slice(from)
  }

  /** One line of the agent, and what we answered to it at once. */
  write(native: unknown): unknown[] {
    return parsed(this.conversation.frame(jsonFrame('stdout', JSON.stringify(native))))
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
    return eventsOf(this.events, type)
  }
}

/** A live talk with an open turn. */
export function openTalk(): Talk {
  const talk = new Talk()
  talk.prompt()
  talk.hear(init())
  return talk
}

export function eventsOf<T extends Event['type']>(events: readonly Event[], type: T): Of<T>[] {
  return events.filter((event): event is Of<T> => event.type === type)
}

function parsed(writes: readonly Write[]): unknown[] {
  return writes.map((write) => (write.kind === 'text' ? JSON.parse(write.text) : write.kind))
}

const session_id = '11111111-2222-4333-8444-555555555555'

export function system(subtype: string, more: Native = {}): Native {
  return { type: 'system', subtype, session_id, ...more }
}

export function init(more: Native = {}): Native {
  return system('init', { model: 'opus', permissionMode: 'default', ...more })
}

export function stream(event: Native, more: Native = {}): Native {
  return { type: 'stream_event', session_id, parent_tool_use_id: null, event, ...more }
}

/** A streamed message up to and with the pieces of its blocks, none of which has come whole. */
export function half(id: string, ...blocks: [block: Native, delta: Native][]): Native[] {
  return [
    stream({ type: 'message_start', message: { id, model: 'opus' } }),
    ...blocks.flatMap(([content_block, delta], index) => [
      stream({ type: 'content_block_start', index, content_block }),
      stream({ type: 'content_block_delta', index, delta }),
    ]),
  ]
}

export const halfText = (text: string): [Native, Native] => [
  { type: 'text', text: '' },
  { type: 'text_delta', text },
]

export function assistant(id: string, block: Native, more: Native = {}): Native {
  const message = { id, role: 'assistant', model: 'opus', content: [block] }
  return { type: 'assistant', session_id, parent_tool_use_id: null, message, ...more }
}

export function call(id: string, name = 'Bash', input: unknown = { command: 'ls' }, parent?: string): Native {
  const more = parent === undefined ? {} : { parent_tool_use_id: parent }
  return assistant(`msg of ${id}`, { type: 'tool_use', id, name, input }, more)
}

export function returned(id: string, content: unknown, more: Native = {}): Native {
  const block = { type: 'tool_result', tool_use_id: id, content }
  return { type: 'user', session_id, message: { role: 'user', content: [block] }, ...more }
}

export function asks(id: string, tool_name: string, input: unknown, more: Native = {}): Native {
  return {
    type: 'control_request',
    request_id: id,
    request: { subtype: 'can_use_tool', tool_name, input, ...more },
  }
}

export function result(more: Native = {}): Native {
  return {
    type: 'result',
    subtype: 'success',
    session_id,
    is_error: false,
    result: 'done',
    usage: {},
    ...more,
  }
}

export function used(input_tokens: number, output_tokens: number): Native {
  return { input_tokens, output_tokens }
}
