import type { Exit, Write } from '../../../src/agents/agent.ts'
import { board } from '../../../src/agents/board/agent.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import { type Cause, type Command, Event } from '../../../src/model/index.ts'
import { Conversation } from '../../../src/sessions/machine/conversation.ts'

export const SESSION = '550e8400-e29b-41d4-a716-446655440000'

/** A session on a board, without a board and without a socket. */
export class BoardTalk {
  readonly events: Event[] = []
  readonly calls: Write[] = []
  readonly conversation: Conversation
  #ids = 0

  constructor(resume?: string) {
    const recipe = board.launches.live
    if (!recipe) throw new Error('board has no live launch')
    this.conversation = new Conversation({
      agent: 'board',
      recipe,
      start: {
        launch: 'live',
        cwd: '/home/me/my-project/',
        policy: { approval: 'auto-all', sandbox: 'none' },
        options: {},
        ...(resume !== undefined && { resume }),
      },
      digest: (text) => text,
      now: () => 0,
      emit: (event) => this.events.push(Event.parse(event)),
    })
    this.conversation.launch()
    this.command({ type: 'open' })
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

  /** What came back over HTTP. */
  http(tag: string, status: number, body: unknown = {}): void {
    this.calls.push(...this.conversation.frame(jsonFrame('http', JSON.stringify({ tag, status, body }))))
  }

  emit(type: string, payload: object, more: object = {}): void {
    const id = `evt-550e8400-e29b-41d4-a716-${String(++this.#ids).padStart(12, '0')}`
    const timestamp = '2025-12-03T10:00:01.234Z'
    this.line(JSON.stringify({ id, sessionId: SESSION, type, payload, timestamp, ...more }))
  }

  line(text: string): void {
    this.conversation.frame(jsonFrame('sse', text))
  }

  /** The session is over, and this is how it stands. */
  close(state: unknown): void {
    this.http('state', 200, { id: SESSION, state })
    this.exit({ code: 0 })
  }

  exit(exit: Omit<Exit, 'cause'>, cause: Cause = 'exit'): void {
    this.conversation.setCause(cause)
    this.conversation.exit(exit)
  }

  of<Type extends Event['type']>(type: Type): Extract<Event, { type: Type }>[] {
    return this.events.filter((event): event is Extract<Event, { type: Type }> => event.type === type)
  }

  get outcomes(): string[] {
    return this.of('turn.completed').map(({ outcome }) => outcome)
  }
}

/** A talk whose session is running. */
export function working(): BoardTalk {
  const talk = new BoardTalk()
  talk.prompt('Refactor the authentication module')
  talk.http('prompt', 201, { id: SESSION, state: 'running' })
  return talk
}
