import type { LaunchRecipe } from '../../agents/agent.ts'
import type {
  AgentEvent,
  SessionEndedEvent,
  SessionStartedEvent,
} from '../../dialects/unified/unified-event.types.ts'
import { unified } from '../../dialects/unified.ts'
import { type Frame, type FrameStream, jsonFrame } from '../../framing/frame.ts'
import {
  addUsage,
  DEFAULT_POLICY,
  type Entry,
  type Event,
  type EventType,
  type LaunchKind,
  type Usage,
} from '../../model/index.ts'
import { jsonCopy } from '../../model/text/json.ts'
import { stamp } from '../../sessions/log/stamp.ts'
import { Conversation } from '../../sessions/machine/conversation.ts'
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
  /** Set to false to emit only the event types of the protocol's document. */
  extensions?: boolean
  /** Milliseconds since 1970, for lines without a timestamp. */
  now?: () => number
}

export interface Native {
  /** The agent in `sessionStarted`. */
  agent: string
  recipe: LaunchRecipe
  launch: LaunchKind
  boundaries: Boundaries
}

/** Where the output of an agent has the boundaries of its turns and sessions. */
export interface Boundaries {
  /** Whether this line ended the turn. `isFinished`: the codec has the result of the turn, and no work is left. */
  ends(line: unknown, isFinished: boolean): boolean
  /** Whether this line, after the end of a turn, belongs to another turn. */
  starts(line: unknown): boolean
  /** The session whose usage this line's process continues to count, for agents that report totals. */
  continues?(line: unknown): unknown
  /** Set if a completed turn ends the session. Otherwise the end of the lines does. */
  endsSession?: true
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

/** Translates the output of an agent with the same code as a server. */
export class Fold {
  readonly #native: Native
  readonly #options: AdapterOptions
  readonly #clock: NativeClock
  readonly #projection: unknown
  readonly #begin: (conversation: Conversation) => void
  #conversation: Conversation | undefined
  #turns = 0
  #usage: Usage = {}
  #isClosed = false
  #waiting: Unstamped[] = []
  /** The end of a session whose last turn completed, until it is known that no other turn follows. */
  #end: SessionEndedEvent | undefined
  #seq = 0
  #sessionId: string | undefined
  #nativeSessionId: string | undefined
  #model: string | undefined

  /** `begin` opens a turn at its first line. */
  constructor(native: Native, options: AdapterOptions, begin: (conversation: Conversation) => void) {
    this.#native = native
    this.#options = options
    this.#projection = unified.initial(options.extensions === false ? { extensions: '0' } : {})
    this.#clock = new NativeClock(options.now ?? Date.now)
    this.#begin = begin
  }

  /** Reads one line or one parsed value. Ignores blank lines. */
  read(native: unknown): void {
    if (typeof native === 'string' && native.trim() === '') return
    const stream = this.#native.recipe.stream ?? 'stdout'
    const frame = typeof native === 'string' ? jsonFrame(stream, native) : frameOf(stream, native)
    this.#clock.advance(frame.value)
    const { boundaries } = this.#native
    if (!this.isOpen && (this.#turns === 0 || boundaries.starts(frame.value))) this.#open(frame.value)
    this.#conversation?.frame(frame)
    if (this.isOpen && boundaries.ends(frame.value, this.#conversation?.stage === 'finished'))
      this.#conversation?.exit({})
  }

  /** A turn is open. */
  get isOpen(): boolean {
    return this.#conversation?.turn !== undefined
  }

  /** Ends the run after the last line. The exit of the process is unknown. `last` is a frame that is not in the output. */
  end(last?: Frame): void {
    if (this.#turns === 0) this.#open(undefined)
    if (last && this.isOpen) this.#conversation?.frame(last)
    if (this.isOpen) this.#conversation?.exit({})
    this.#isClosed = true
    this.#sessionId ??= this.#chosenId()
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
      if (this.#end && event.type === 'notice.raised' && event.level === 'error') {
        yield failedEnd(this.#end, entry, event.message)
        this.#end = undefined
      }
      for (const message of unified.project(this.#projection, entry)) {
        if (isEvent(message) && !this.#isHeld(message)) yield this.#emitted(message)
      }
    }
    if (!this.#isClosed || !this.#end) return
    yield jsonCopy(this.#end)
    this.#end = undefined
  }

  /** A server ends the session with each last turn; here another turn may follow in the same session. */
  #isHeld(message: AgentEvent): boolean {
    const isReopened = message.type === 'sessionStarted' && this.#end !== undefined
    const isEnd = message.type === 'sessionEnded' && message.reason === 'completed'
    this.#end = isEnd && !this.#native.boundaries.endsSession ? message : undefined
    return this.#end !== undefined || isReopened
  }

  /** A copy, because a consumer may edit it and later events must not change. */
  #emitted(message: AgentEvent): AgentEvent {
    return jsonCopy(message.type === 'sessionStarted' ? this.#started(message) : message)
  }

  #open(line: unknown): void {
    const { agent, recipe, launch, boundaries } = this.#native
    const known = boundaries.continues?.(line)
    const isContinued = known !== undefined && known === this.#nativeSessionId
    const conversation = new Conversation({
      agent,
      recipe,
      // The actual policy is unknown. This default decides nothing and is not reported.
      start: { launch, cwd: this.#options.workingDirectory ?? '', policy: DEFAULT_POLICY, options: {} },
      // Requests are not answered here, so the digest is never compared.
      digest: (text) => text,
      now: () => this.#clock.elapsed(),
      emit: (event, turn, native) => this.#take(event, turn, native),
      before: {
        turns: this.#turns,
        epoch: this.#turns,
        frames: this.#conversation?.frames ?? 0,
        usageSoFar: isContinued ? this.#usage : {},
        context: { ids: isContinued ? { proven: this.#nativeSessionId } : {}, prompted: false },
      },
    })
    this.#conversation = conversation
    if (this.#turns++ === 0) conversation.open()
    conversation.launch()
    this.#begin(conversation)
  }

  #take(event: Event, turn: number | undefined, native: number | undefined): void {
    if (event.type === 'session.updated') {
      this.#nativeSessionId ??= event.nativeSessionId
      this.#model ??= event.model
    }
    if (event.type === 'turn.completed') this.#usage = addUsage(this.#usage, event.usage ?? {})
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

/** The end of a session whose agent reports an error after its last turn completed. */
function failedEnd(end: SessionEndedEvent, { seq, at }: Entry, error: string): SessionEndedEvent {
  return {
    ...end,
    id: `evt_${seq}`,
    timestamp: new Date(at).toISOString(),
    reason: 'failed',
    error,
    outcome: 'failed',
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
