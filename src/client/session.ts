import { type AgentError, translateError } from './agent-error.ts'
import { type AgentEvent, parseEvent, type RequestOpenedEvent } from './event.ts'
import type { ProtocolAdapter } from './protocol-adapter.ts'
import { type Followed, type RetryOptions, resume } from './resume.ts'
import type { Timers } from './timers.ts'
import {
  type Cursor,
  type Delivery,
  type RequestAnswer,
  type SessionState,
  START,
  type Transport,
} from './transport.ts'

export interface SessionDeps {
  id: string
  agentType: string
  /** Where `events` begins. */
  from: Cursor
  transport: Transport
  adapter: ProtocolAdapter | undefined
  timers: Timers
  random(): number
  retry: RetryOptions
}

export interface ReadOptions {
  /** The last place that was read; where this session began unless it is said. */
  after?: Cursor
  /** Stops reading, and nothing else. */
  signal?: AbortSignal
}

/** An event, and the place to come back to. */
export interface Read {
  event: AgentEvent
  cursor: Cursor
}

const NEVER = new AbortController().signal

/** One session on a server. It goes on whether anybody reads it or not. */
export class Session {
  readonly id: string
  readonly #deps: SessionDeps

  constructor(deps: SessionDeps) {
    this.id = deps.id
    this.#deps = deps
  }

  /**
   * What happens, from the beginning of this session until it is over. Every loop over it reads by itself and sees
   * each event once, over as many connections as it takes.
   */
  get events(): AsyncIterable<AgentEvent> {
    const read = () => this.read()
    return {
      async *[Symbol.asyncIterator]() {
        for await (const { event } of read()) yield event
      },
    }
  }

  /** The same with the place of each event, so that another program can go on there another day. */
  async *read({ after, signal = NEVER }: ReadOptions = {}): AsyncGenerator<Read, void, void> {
    const { adapter, from } = this.#deps
    const start = after ?? from
    try {
      if (adapter) yield* this.#adapted(adapter, start, signal)
      else yield* this.#unified(start, signal)
    } catch (thrown) {
      throw signal.aborted ? thrown : this.#error(thrown)
    }
  }

  async state(): Promise<SessionState> {
    return this.#call(this.#deps.transport.state(this.id))
  }

  /** Stops the agent. The events go on to their end, which says so. */
  async cancel(): Promise<void> {
    return this.#call(this.#deps.transport.cancel(this.id))
  }

  /**
   * Answers a `requestOpened` of this session, for which the agent waits. The first answer wins; a later one is
   * refused.
   */
  async answer(
    { requestId, inputDigest }: Pick<RequestOpenedEvent, 'requestId' | 'inputDigest'>,
    answer: Omit<RequestAnswer, 'inputDigest'>,
  ): Promise<void> {
    return this.#call(this.#deps.transport.answer(this.id, requestId, { ...answer, inputDigest }))
  }

  async *#unified(start: Cursor, signal: AbortSignal): AsyncGenerator<Read, void, void> {
    for await (const { text, cursor } of this.#deliveries(start, signal)) {
      const event = parseEvent(text)
      if (event) yield { event, cursor }
    }
  }

  /** An adapter has to hear it all to know what it means, so that a place is a count of what it said. */
  async *#adapted(
    adapter: ProtocolAdapter,
    { count: known }: Cursor,
    signal: AbortSignal,
  ): AsyncGenerator<Read, void, void> {
    const deliveries = this.#deliveries(START, signal)
    async function* texts() {
      for await (const { text } of deliveries) yield text
    }
    let count = 0
    const { agentType } = this.#deps
    for await (const event of adapter.adaptEvents(texts(), { agentType })) {
      if (++count > known) yield { event, cursor: { count } }
    }
  }

  #deliveries(from: Cursor, signal: AbortSignal): AsyncGenerator<Delivery, void, void> {
    const { transport, timers, retry, random } = this.#deps
    const { id } = this
    const followed: Followed<Delivery, Cursor> = {
      connect: (place, connected) => transport.connect(id, place, connected),
      placeOf: ({ cursor }) => cursor,
      mayEndAt: ({ count }) => count > 0,
      mayBeLast: ({ text }) => text.includes('"sessionEnded"'),
      async standing({ count }) {
        // Asked first: a session that was over had said everything before it was counted.
        const state = await transport.state(id, signal)
        if ((await transport.count(id, count, signal)) > count) return 'behind'
        return state === 'running' ? 'waiting' : 'over'
      },
      passes: (thrown) => PASSING.has(this.#error(thrown).type),
    }
    return resume(followed, from, { timers, random, retry, signal })
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

/** What may be better in a moment. */
const PASSING: ReadonlySet<AgentError['type']> = new Set(['connectionFailed', 'timeout'])
