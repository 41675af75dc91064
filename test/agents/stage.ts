import type { Agent, Beat, Exit, LaunchRecipe, Write } from '../../src/agents/agent.ts'
import { jsonFrame } from '../../src/framing/frame.ts'
import type { RequestOpened } from '../../src/model/events/request.ts'
import {
  type AnswerCommand,
  type Cause,
  type Command,
  Event,
  type LaunchKind,
} from '../../src/model/index.ts'
import { Conversation } from '../../src/sessions/machine/conversation.ts'

/** A built-in agent in a conversation without clock, store or driver; every event is checked against its schema. */
export class Stage {
  readonly events: Event[] = []
  readonly conversation: Conversation
  /** How long the agent's lines take at the speed they were written for. */
  playTime = 0
  ended = false
  readonly #recipe: LaunchRecipe
  readonly #lines: string[] = []
  #beats: Beat[] = []
  #reply: (line: string) => readonly Beat[] = () => []

  constructor(agent: Agent, launch: LaunchKind = 'live') {
    const recipe = agent.launches[launch]
    if (!recipe) throw new Error(`${agent.id} has no ${launch} launch`)
    this.#recipe = recipe
    this.conversation = new Conversation({
      agent: agent.id,
      recipe,
      start: { launch, cwd: '/project', policy: { approval: 'ask', sandbox: 'none' }, options: {} },
      digest: (text) => `digest of ${text.length}`,
      now: () => 0,
      emit: (event) => this.events.push(Event.parse(JSON.parse(JSON.stringify(event)))),
    })
    this.conversation.open()
    this.launch()
  }

  /** Starts the agent, again after an exit. */
  launch(): void {
    const launch = this.#recipe.launch(this.conversation.launch())
    if (launch.kind !== 'builtin') throw new Error('not a built-in agent')
    this.#reply = launch.reply
    this.#lines.length = 0
    this.#beats = []
    this.command({ type: 'open' })
  }

  prompt(text: string): void {
    this.conversation.begin(this.conversation.accept(), text)
    this.command({ type: 'prompt', text })
  }

  command(command: Command) {
    const step = this.conversation.command(command)
    this.#write(step.writes)
    return step
  }

  answer(answer: AnswerCommand): void {
    this.#write(this.conversation.answer(answer).writes)
  }

  /** One line of the agent; false when it has nothing more to say. */
  step(): boolean {
    while (this.#beats.length === 0) {
      const line = this.#lines.shift()
      if (line === undefined) return false
      this.#beats.push(...this.#reply(line))
    }
    const beat = this.#beats.shift()
    if (!beat) return false
    this.playTime += beat.afterMs
    this.#write(this.conversation.frame(jsonFrame('stdout', beat.line)))
    return true
  }

  /** Plays until the agent waits for us, and answers it as long as there is somebody to ask. */
  play(choose: (request: RequestOpened) => AnswerCommand | undefined = () => undefined): void {
    for (;;) {
      while (this.step());
      const request = openRequests(this.events)[0]
      const answer = request && choose(request)
      if (!answer) return
      this.answer(answer)
    }
  }

  exit(cause: Cause = 'exit', exit: Omit<Exit, 'cause'> = { code: 0 }): void {
    this.conversation.setCause(cause)
    this.conversation.exit(exit)
  }

  only<Type extends Event['type']>(type: Type): Extract<Event, { type: Type }>[] {
    return this.events.filter((event): event is Extract<Event, { type: Type }> => event.type === type)
  }

  #write(writes: readonly Write[]): void {
    for (const write of writes) {
      if (write.kind === 'text') this.#lines.push(...write.text.split('\n').slice(0, -1))
      else this.ended = true
    }
  }
}

function openRequests(events: readonly Event[]): RequestOpened[] {
  const open = new Map<string, RequestOpened>()
  for (const event of events) {
    if (event.type === 'request.opened') open.set(event.requestId, event)
    if (event.type === 'request.resolved' || event.type === 'request.withdrawn') open.delete(event.requestId)
  }
  return [...open.values()]
}

/** What was begun and not ended, however it was begun; empty when everything is settled. */
export function leftOpen(events: readonly Event[]): string[] {
  const open = new Set<string>(openRequests(events).map(({ requestId }) => `request ${requestId}`))
  for (const event of events) {
    switch (event.type) {
      case 'turn.started':
        open.add(`turn ${event.turn}`)
        break
      case 'turn.completed':
        open.delete(`turn ${event.turn}`)
        break
      case 'text.delta':
      case 'thinking.delta':
        open.add(`message ${event.messageId}`)
        break
      case 'text.completed':
      case 'thinking.completed':
        open.delete(`message ${event.messageId}`)
        break
      case 'tool.started':
        open.add(`tool ${event.toolId}`)
        break
      case 'tool.completed':
        open.delete(`tool ${event.toolId}`)
        break
      case 'subagent.started':
        open.add(`subagent ${event.id}`)
        break
      case 'subagent.completed':
        open.delete(`subagent ${event.id}`)
        break
    }
  }
  return [...open]
}
