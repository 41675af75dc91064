import type { LaunchRecipe } from '../../agents/agent.ts'
import { unified } from '../../dialects/unified.ts'
import { type Frame, type FrameStream, jsonFrame } from '../../framing/frame.ts'
import { DEFAULT_POLICY, type Entry, type LaunchKind } from '../../model/index.ts'
import { Conversation } from '../../sessions/conversation.ts'
import { stamp } from '../../sessions/log.ts'
import type { AgentEvent } from '../event.ts'

export interface AdapterOptions {
  /** The `sessionId` of the events; a new one unless it is said. */
  sessionId?: string
  /** The prompt that the agent was given, for its `turnStarted`. */
  prompt?: string
  workingDirectory?: string
  /** Milliseconds since 1970. */
  now?: () => number
}

export interface Native {
  agent: string
  recipe: LaunchRecipe
  launch: LaunchKind
}

/** One run of an agent, folded by the same code that a server uses. */
export class Fold {
  readonly conversation: Conversation
  readonly #stream: FrameStream
  readonly #projection = unified.initial({})
  #entries: Entry[] = []

  constructor({ agent, recipe, launch }: Native, options: AdapterOptions) {
    const { sessionId = crypto.randomUUID(), workingDirectory = '/', now = Date.now } = options
    let seq = 0
    this.#stream = recipe.stream ?? 'stdout'
    this.conversation = new Conversation({
      agent,
      recipe,
      start: { launch, cwd: workingDirectory, policy: DEFAULT_POLICY, options: {} },
      // What is asked of a person is no part of these events, so that nobody compares it.
      digest: (text) => text,
      now,
      emit: (event, turn, native) => {
        this.#entries.push(stamp(++seq, sessionId, turn, now(), event, native))
      },
    })
    this.conversation.open()
    this.conversation.launch()
  }

  /** One line or one parsed value; a blank line is nothing. */
  hear(native: unknown): void {
    if (typeof native !== 'string') this.conversation.frame(frameOf(this.#stream, native))
    else if (native.trim() !== '') this.conversation.frame(jsonFrame(this.#stream, native))
  }

  /** What was said since the last time. */
  *events(): Generator<AgentEvent> {
    const entries = this.#entries
    this.#entries = []
    for (const entry of entries) {
      for (const message of unified.project(this.#projection, entry)) if (isEvent(message)) yield message
    }
  }
}

export function frameOf(stream: FrameStream, value: unknown): Frame {
  return { stream, text: JSON.stringify(value) ?? '', value }
}

/** The dialect says nothing else; its common interface cannot know. */
function isEvent(message: Readonly<Record<string, unknown>>): message is AgentEvent {
  return typeof message.type === 'string'
}
