import type { LaunchRecipe } from '../../agents/agent.ts'
import { unified } from '../../dialects/unified.ts'
import type { AgentEvent, SessionStartedEvent } from '../../dialects/unified-event.types.ts'
import { type Frame, type FrameStream, jsonFrame } from '../../framing/frame.ts'
import { DEFAULT_POLICY, type Entry, type Event, type EventType, type LaunchKind } from '../../model/index.ts'
import { jsonCopy } from '../../model/json-copy.ts'
import { Conversation } from '../../sessions/conversation.ts'
import { stamp } from '../../sessions/log.ts'
import type { SessionConfig } from '../config.ts'
import { NativeClock } from './native-clock.ts'

/** Facts that the output of an agent does not contain. */
export interface AdapterOptions {
  /** The `sessionId` of the events; by default the agent's own, or a new one if the agent has none. */
  sessionId?: string
  /** The prompt that the agent was given, for its `turnStarted`. */
  prompt?: string
  /** The agent's working directory. */
  workingDirectory?: string
  /** The other settings that the agent was started with, for its `sessionStarted`. */
  config?: Omit<SessionConfig, 'agentType' | 'workingDirectory'>
  /** Milliseconds since 1970, for lines without a timestamp. */
  now?: () => number
}

export interface Native {
  /** The agent in `sessionStarted`. */
  agent: string
  recipe: LaunchRecipe
  launch: LaunchKind
}

/** An event before its session is known. */
type Unstamped = Omit<Entry, 'seq' | 'session'>

/** Events that may precede the agent's own session id. */
const EARLY: ReadonlySet<EventType> = new Set([
  'session.started',
  'session.updated',
  'turn.started',
  'native.unmapped',
  'output.written',
])

/** Translates one run of an agent with the same code as a server. */
export class Fold {
  readonly #native: Native
  readonly #options: AdapterOptions
  readonly #clock: NativeClock
  readonly #projection = unified.initial({})
  readonly #begin: (conversation: Conversation) => void
  #conversation: Conversation | undefined
  #waiting: Unstamped[] = []
  #seq = 0
  #sessionId: string | undefined
  #nativeSessionId: string | undefined
  #model: string | undefined

  /** `begin` opens the turn at the first line. */
  constructor(native: Native, options: AdapterOptions, begin: (conversation: Conversation) => void) {
    this.#native = native
    this.#options = options
    this.#clock = new NativeClock(options.now ?? Date.now)
    this.#begin = begin
  }

  /** Reads one line or one parsed value. Ignores blank lines. */
  read(native: unknown): void {
    if (typeof native === 'string' && native.trim() === '') return
    const stream = this.#native.recipe.stream ?? 'stdout'
    const frame = typeof native === 'string' ? jsonFrame(stream, native) : frameOf(stream, native)
    this.#clock.advance(frame.value)
    this.#opened().frame(frame)
  }

  /** Ends the run after the last line. The exit of the process is unknown. */
  end(): void {
    this.#opened().exit({})
    this.#sessionId ??= this.#chosenId()
  }

  /** Adds a frame that is not in the output. */
  conclude(frame: Frame): void {
    this.#opened().frame(frame)
  }

  /** The events since the last call. Events before the session id is known are delayed until it is. */
  *events(): Generator<AgentEvent> {
    if (this.#sessionId === undefined) {
      const isKnown = this.#options.sessionId !== undefined || this.#nativeSessionId !== undefined
      if (!isKnown && this.#waiting.every(({ event }) => EARLY.has(event.type))) return
      this.#sessionId = this.#chosenId()
    }
    const waiting = this.#waiting
    this.#waiting = []
    for (const { turn, at, event, native } of waiting) {
      const entry = stamp(++this.#seq, this.#sessionId, turn, at, event, native)
      for (const message of unified.project(this.#projection, entry)) {
        if (!isEvent(message)) continue
        // A copy, because a consumer may edit it and later events must not change.
        yield jsonCopy(message.type === 'sessionStarted' ? this.#started(message) : message)
      }
    }
  }

  #opened(): Conversation {
    if (this.#conversation) return this.#conversation
    const { agent, recipe, launch } = this.#native
    const conversation = new Conversation({
      agent,
      recipe,
      // The actual policy is unknown. This default decides nothing and is not reported.
      start: { launch, cwd: this.#options.workingDirectory ?? '', policy: DEFAULT_POLICY, options: {} },
      // Requests are not answered here, so the digest is never compared.
      digest: (text) => text,
      now: () => this.#clock.elapsed(),
      emit: (event, turn, native) => this.#take(event, turn, native),
    })
    this.#conversation = conversation
    conversation.open()
    conversation.launch()
    this.#begin(conversation)
    return conversation
  }

  #take(event: Event, turn: number | undefined, native: number | undefined): void {
    if (event.type === 'session.updated') {
      this.#nativeSessionId ??= event.nativeSessionId
      this.#model ??= event.model
    }
    const at = this.#clock.at()
    this.#waiting.push({
      at,
      event,
      ...(turn !== undefined && { turn }),
      ...(native !== undefined && { native }),
    })
  }

  #chosenId(): string {
    return this.#options.sessionId ?? this.#nativeSessionId ?? crypto.randomUUID()
  }

  /** Reports only the known settings; the projection fills in defaults for the others. */
  #started({ config: _, ...message }: SessionStartedEvent): SessionStartedEvent {
    const { workingDirectory, config = {} } = this.#options
    const { allowedTools, blockedTools, ...rest } = config
    const model = rest.model ?? this.#model
    const nativeSessionId = this.#nativeSessionId
    return {
      ...message,
      ...(nativeSessionId !== undefined && { nativeSessionId }),
      config: {
        agentType: message.agentType,
        ...(workingDirectory !== undefined && { workingDirectory }),
        ...rest,
        ...(model !== undefined && { model }),
        ...(allowedTools && { allowedTools: [...allowedTools] }),
        ...(blockedTools && { blockedTools: [...blockedTools] }),
      },
    }
  }
}

/** Parses the value again, because the caller may edit it later. */
export function frameOf(stream: FrameStream, value: unknown): Frame {
  return jsonFrame(stream, JSON.stringify(value) ?? '')
}

/** The dialect emits only events, but its common interface has a wider type. */
function isEvent(message: Readonly<Record<string, unknown>>): message is AgentEvent {
  return typeof message.type === 'string'
}
