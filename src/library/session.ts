/// <reference lib="esnext.disposable" preserve="true" />

import { IN_PROCESS } from '../attend/in-process.ts'
import { submitAnswer } from '../attend/submit-answer.ts'
import type { RequestOpened } from '../model/events/request.ts'
import {
  type Applied,
  BoundAnswer,
  type Entry,
  type Event,
  type LaunchKind,
  RequestAnswer,
  toMainstemError,
} from '../model/index.ts'
import { isForPerson } from '../model/request/for-person.ts'
import type { ContextUsage } from '../model/session/context-usage.types.ts'
import { copyEntry, jsonCopy } from '../model/text/json.ts'
import { checkFields, checkSignal } from '../model/text/known-fields.ts'
import { parse } from '../model/text/parse.ts'
import type { Handle } from './handle.ts'
import { ItemIterator } from './item-iterator.ts'
import type { OutputSchema } from './output.ts'
import { type PromptOptions, Turn } from './turn.ts'
import type { ReadPosition } from './unread-retention.ts'

/** A decision on a request. */
export type Answer = Omit<RequestAnswer, 'inputDigest'>

const AnswerSchema = RequestAnswer.omit({ inputDigest: true })

/** The fields of a `request.opened` event that identify the request to answer. */
export type AnswerableRequest = Pick<RequestOpened, 'requestId' | 'inputDigest'>

const AnswerableSchema = BoundAnswer.pick({ requestId: true, inputDigest: true }).loose()

/**
 * Decides a request that the policy leaves to a person. A callback that throws, or returns anything else than an
 * `Answer`, denies the request and raises the notice `answer_invalid`.
 */
export type Answerer = (request: RequestOpened) => Answer | Promise<Answer>

/** Where to read a log from. */
export interface ReadOptions {
  /** The last `seq` that you have; from the first entry by default. */
  after?: number
  /** Stops reading. */
  signal?: AbortSignal
}

/** Refuses options that do not exist, and a signal that is none. */
export function checkRead(options: ReadOptions): void {
  checkFields(options, ['after', 'signal'], 'options')
  checkSignal(options.signal)
}

/** The requests that are open when a handle of a session is created. */
export interface PendingRequests {
  requests: readonly RequestOpened[]
  /** The last entry at that time. */
  after: number
}

const VALID_ANSWERS =
  "Return { decision: 'allow' }, { decision: 'deny', message } or, for questions, { decision: 'answered', answers }."

/** A conversation with an agent. Disposing ends the agent's process. */
export class AgentSession<T = unknown> implements AsyncDisposable {
  /** The id of the session. */
  readonly id: string
  readonly #handle: Handle
  readonly #output: OutputSchema<T> | undefined
  readonly #leave = new AbortController()

  /** `answerer` decides the requests in `pending`, and those after the entry `pending.after`. */
  constructor(
    handle: Handle,
    output: OutputSchema<T> | undefined,
    answerer: Answerer | undefined,
    pending: PendingRequests,
  ) {
    this.id = handle.log.session
    this.#handle = handle
    this.#output = output
    if (answerer) this.#answerAll(answerer, pending)
  }

  /** Starts a turn, or queues it if a turn is open. */
  prompt(text: string, more: PromptOptions = {}): Turn<T> {
    return new Turn(this.#handle, text, more, this.#output)
  }

  /** Sends a prompt into the open turn. Rejects if the agent does not support it. */
  async steer(text: string): Promise<void> {
    await (await this.#handle.session()).steer(text, IN_PROCESS)
  }

  /** Replaces the conversation by a summary, in a turn. The turn is refused if the agent cannot. */
  compact(): Turn<T> {
    return this.prompt('/compact')
  }

  /** Has the agent review the uncommitted changes, in a turn. The turn is refused if the agent cannot. */
  review(): Turn<T> {
    return this.prompt('/review')
  }

  /**
   * Has the agent work on a goal until it is reached: in this turn and, with some agents, in turns that the agent starts
   * itself. The turn is refused if the agent has no goals.
   */
  goal(text: string): Turn<T> {
    return this.prompt(`/goal ${text}`)
  }

  /** Restores the files as they were before an earlier turn. The turn is refused if the agent cannot. */
  rewind(turn: number): Turn<T> {
    return this.prompt(`/rewind ${turn}`)
  }

  /** How full the context window of the agent is; undefined until it is known. */
  async context(): Promise<ContextUsage | undefined> {
    return (await this.#handle.sessions.record(this.id))?.context
  }

  /** Changes the model; `null` selects the default of the agent. Resolves with the time the change takes effect. */
  async setModel(model: string | null): Promise<Applied> {
    return (await this.#handle.session()).change({ type: 'set_model', model }, IN_PROCESS)
  }

  /** Selects one of the agent's own modes. Resolves with the time the change takes effect. */
  async setMode(mode: string): Promise<Applied> {
    return (await this.#handle.session()).change({ type: 'set_policy', mode }, IN_PROCESS)
  }

  /** Gives the session a name; `null` removes it. */
  async rename(name: string | null): Promise<void> {
    await (await this.#handle.session()).rename(name, IN_PROCESS)
  }

  /**
   * Has another agent continue the session, in a conversation of its own. Before its first prompt it is told a recap of
   * the log. Rejects while a turn runs, and if the agent cannot keep the policy or the options.
   */
  async continueWith(agent: string, more: { launch?: LaunchKind; model?: string } = {}): Promise<void> {
    checkFields(more, ['launch', 'model'], 'options')
    await this.#handle.sessions.continueWith(this.id, { type: 'hand_over', agent, ...more }, IN_PROCESS)
    await this.#handle.session()
  }

  /** The agent's own id of the conversation. Pass it as `resume` to continue the conversation later. */
  get nativeSessionId(): string | undefined {
    return this.#handle.nativeSessionId
  }

  /** Starts the agent's process now, so that the first prompt does not wait for it. */
  async warm(): Promise<void> {
    await (await this.#handle.session()).place.warm()
  }

  /**
   * Answers an open request, given its `request.opened` event. The first answer wins. Rejects with `invalid_request`,
   * and leaves the request open, if the answer is not valid or does not fit the request.
   */
  async answer(request: AnswerableRequest, answer: Answer): Promise<void> {
    const { requestId, inputDigest } = parse(AnswerableSchema, request, 'request')
    // A copy, because the log keeps the answer and the caller may edit it later.
    const decision = structuredClone(parse(AnswerSchema, answer, 'answer'))
    const session = await this.#handle.session()
    await session.answer({ ...decision, type: 'answer', requestId, inputDigest }, IN_PROCESS)
  }

  /** Stops the open turn. Resolves when the turn has its `turn.completed` event. */
  async interrupt(): Promise<void> {
    await (await this.#handle.session()).interrupt(undefined, IN_PROCESS)
  }

  /** Replays the log after a `seq`, then streams new entries until the session ends. */
  entries(options: ReadOptions = {}): AsyncIterableIterator<Entry, void> {
    checkRead(options)
    const { after = this.#handle.start, signal } = options
    const until = signal ? AbortSignal.any([signal, this.#leave.signal]) : this.#leave.signal
    const { retention } = this.#handle
    const position = retention?.subscribe(after)
    const entries = new ItemIterator(this.#batches(after, until, position), copyEntry)
    if (position) retention?.closeWith(entries, position)
    return entries
  }

  async *#batches(
    after: number,
    signal: AbortSignal,
    position: ReadPosition | undefined,
  ): AsyncGenerator<readonly Entry[], void> {
    try {
      for await (const batch of this.#handle.sessions.follow(this.id, after, signal)) {
        yield batch
        const last = batch.at(-1)
        if (last) await position?.advance(last.seq)
      }
    } catch (thrown) {
      this.#handle.readFailed(thrown)
    } finally {
      await position?.close()
    }
  }

  /** Ends the session and its process. `await using` calls it at the end of the block. */
  async close(): Promise<void> {
    await this.#handle.sessions.end(this.id, IN_PROCESS)
    this.#leave.abort()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #answerAll(answerer: Answerer, { requests, after }: PendingRequests): void {
    const decide = (event: Event) => {
      if (event.type === 'request.opened' && isForPerson(event)) void this.#decide(event, answerer)
    }
    for (const request of requests) decide(jsonCopy(request))
    const decideAll = async () => {
      for await (const { event } of this.entries({ after })) decide(event)
    }
    // A log that cannot be read is reported to whoever iterates or waits for the turn.
    decideAll().catch(() => undefined)
  }

  /** A callback that fails denies the request: the agent must not wait forever, and failure is not consent. */
  async #decide(request: RequestOpened, answerer: Answerer): Promise<void> {
    // Copied before the callback runs, because it may edit the request.
    const { requestId, inputDigest } = request
    const asked = { requestId, inputDigest }
    let answer: Answer
    try {
      answer = await answerer(request)
    } catch (thrown) {
      return this.#decline(asked, `onRequest failed: ${toMainstemError(thrown).message}`)
    }
    await submitAnswer(this.answer(asked, answer), (thrown) => {
      const { message } = toMainstemError(thrown)
      return this.#decline(asked, `onRequest returned an invalid answer: ${message}. ${VALID_ANSWERS}`)
    })
  }

  /** Denies the request, unless it was closed meanwhile. */
  async #decline(asked: AnswerableRequest, reason: string): Promise<void> {
    const declined = this.#handle.session().then((session) => session.decline(asked, reason))
    await declined.catch(() => undefined)
  }
}
