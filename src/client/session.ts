import type { AgentEvent } from '../dialects/unified/unified-event.types.ts'
import type { RequestOpenedEvent } from '../dialects/unified/unified-extension.types.ts'
import type { RequestAnswer } from '../model/index.ts'
import { type AgentError, translateError } from './errors/agent-error.ts'
import { isDocumented, parseEvent } from './event.ts'
import type { ProtocolAdapter } from './protocol-adapter.ts'
import { type ResumableStream, type RetryOptions, resume } from './resume.ts'
import type { Timers } from './timers.ts'
import { isUnwritable } from './transports/connection.ts'
import {
  type Cursor,
  type Delivery,
  type SessionState,
  START,
  type Transport,
} from './transports/transport.ts'
import { eventsOfTurn } from './turn-stream.ts'

export interface ClientSessionDeps {
  id: string
  agentType: string
  /** Where `events` starts. */
  from: Cursor
  /** The turn that `events` is limited to. */
  turn?: number | undefined
  /** With an adapter, for a server that does not report the turn: messages that were there before the prompt. */
  earlier?: number | undefined
  transport: Transport
  adapter: ProtocolAdapter | undefined
  /** False: only events whose type the protocol's document has. */
  extensions: boolean
  timers: Timers
  random(): number
  retry: RetryOptions
}

/** Options of `read`. */
export interface ReadOptions {
  /** The cursor of the last event you have; the start of this session by default. */
  after?: Cursor
  /** Stops reading. The session continues. */
  signal?: AbortSignal
}

/** An event with its cursor. */
export interface Read {
  /** The event. */
  event: AgentEvent
  /** Pass it as `after` to continue after this event. */
  cursor: Cursor
}

const NEVER = new AbortController().signal

/** A session on a server. It runs whether or not a client reads it. */
export class Session {
  /** The id of the session. */
  readonly id: string
  readonly #deps: ClientSessionDeps

  constructor(deps: ClientSessionDeps) {
    this.id = deps.id
    this.#deps = deps
  }

  /**
   * The events of the prompt that `createSession` or `resumeSession` sent; otherwise all events up to the end of the
   * session. Every loop reads independently and sees each event once. Reconnects as often as needed.
   */
  get events(): AsyncIterable<AgentEvent> {
    const read = () => this.read()
    return {
      async *[Symbol.asyncIterator]() {
        for await (const { event } of read()) yield event
      },
    }
  }

  /** Like `events`, with the cursor of each event, so that another program can continue there. */
  async *read({ after, signal = NEVER }: ReadOptions = {}): AsyncGenerator<Read, void, void> {
    try {
      for await (const read of this.#reads(after, signal))
        if (this.#deps.extensions || isDocumented(read.event)) yield read
    } catch (thrown) {
      throw signal.aborted ? thrown : this.#error(thrown)
    }
  }

  /** The current state of the session. */
  async state(): Promise<SessionState> {
    return this.#call(this.#deps.transport.state(this.id))
  }

  /** Stops the agent. `events` still ends with `sessionEnded`. */
  async cancel(): Promise<void> {
    return this.#call(this.#deps.transport.cancel(this.id))
  }

  /**
   * Answers a `requestOpened` event of this session. The first answer wins; later ones are rejected.
   */
  async answer(
    { requestId, inputDigest }: Pick<RequestOpenedEvent, 'requestId' | 'inputDigest'>,
    answer: Omit<RequestAnswer, 'inputDigest'>,
  ): Promise<void> {
    return this.#call(this.#deps.transport.answer(this.id, requestId, { ...answer, inputDigest }))
  }

  #reads(after: Cursor | undefined, signal: AbortSignal): AsyncGenerator<Read, void, void> {
    const { adapter, from, turn } = this.#deps
    const start = after ?? from
    if (adapter) {
      const all = this.#adapted(adapter, signal)
      return readsAfter(turn === undefined ? all : eventsOfTurn(all, turn, false), start)
    }
    const reads = this.#unified(start, signal)
    return turn === undefined ? reads : eventsOfTurn(reads, turn, after !== undefined)
  }

  async *#unified(start: Cursor, signal: AbortSignal): AsyncGenerator<Read, void, void> {
    for await (const { text, cursor } of this.#deliveries(start, signal)) {
      const event = parseEvent(text)
      if (event) yield { event, cursor }
    }
  }

  /** Adapts from the first message, because an adapter needs all of them. The cursor counts adapted events. */
  async *#adapted(adapter: ProtocolAdapter, signal: AbortSignal): AsyncGenerator<Read, void, void> {
    const deliveries = this.#deliveries(START, signal)
    let messages = 0
    async function* texts() {
      for await (const { text } of deliveries) {
        messages++
        yield text
      }
    }
    let count = 0
    const { agentType, turn, earlier = 0 } = this.#deps
    const begin = turn === undefined ? earlier : 0
    for await (const event of adapter.adaptEvents(texts(), { agentType })) {
      count++
      if (messages > begin) yield { event, cursor: { count } }
    }
  }

  #deliveries(from: Cursor, signal: AbortSignal): AsyncGenerator<Delivery, void, void> {
    const { transport, timers, retry, random } = this.#deps
    const { id } = this
    const stream: ResumableStream<Delivery, Cursor> = {
      connect: (position, connected) => transport.connect(id, position, connected),
      positionOf: ({ cursor }) => cursor,
      mayEndAt: ({ count }) => count > 0,
      mayBeLast: ({ text }) => text.includes('"sessionEnded"'),
      async status({ count }) {
        // Read before the count: if the session has ended, the count is then final.
        const state = await transport.state(id, signal)
        if ((await transport.count(id, count, signal)) > count) return 'behind'
        return state === 'running' ? 'waiting' : 'ended'
      },
      isTransient: (thrown) => TRANSIENT.has(this.#error(thrown).type) && !isUnwritable(thrown),
    }
    return resume(stream, from, { timers, random, retry, signal })
  }

  async #call<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer
    } catch (thrown) {
      throw this.#error(thrown)
    }
  }

  #error(thrown: unknown): AgentError {
    return translateError(thrown, this.#deps.agentType)
  }
}

async function* readsAfter(reads: AsyncIterable<Read>, { count }: Cursor): AsyncGenerator<Read, void, void> {
  for await (const read of reads) if (read.cursor.count > count) yield read
}

/** Errors that a retry may fix. */
const TRANSIENT: ReadonlySet<AgentError['type']> = new Set(['connectionFailed', 'timeout'])
