/// <reference lib="esnext.disposable" preserve="true" />
import type { RequestOpened } from '../model/events/request.ts'
import { type AnswerCommand, type Applied, type Entry, toMainstemError } from '../model/index.ts'
import { copyEntry } from './copy-entry.ts'
import type { Handle } from './handle.ts'
import { ItemIterator } from './item-iterator.ts'
import type { OutputSchema } from './output.ts'
import { Turn, type TurnPrompt } from './turn.ts'
import type { ReadPosition } from './unread-retention.ts'

/** A decision on a request. */
export type Answer = Omit<AnswerCommand, 'type' | 'requestId' | 'by'>

/** The fields of a `request.opened` event that identify the request to answer. */
export type AnswerableRequest = Pick<RequestOpened, 'requestId' | 'inputDigest'>

/** Decides a request that the policy leaves to a person. */
export type Answerer = (request: RequestOpened) => Answer | Promise<Answer>

/** A conversation with an agent. Disposing ends the agent's process. */
export class AgentSession<T = unknown> implements AsyncDisposable {
  /** The id of the session. */
  readonly id: string
  readonly #handle: Handle
  readonly #output: OutputSchema<T> | undefined
  readonly #leave = new AbortController()

  constructor(handle: Handle, answerer: Answerer | undefined, output: OutputSchema<T> | undefined) {
    this.id = handle.log.session
    this.#handle = handle
    this.#output = output
    if (answerer) void this.#answerAll(answerer)
  }

  /** Starts a turn, or queues it if a turn is open. */
  prompt(text: string, more: Omit<TurnPrompt, 'text'> = {}): Turn<T> {
    return new Turn(this.#handle, { text, ...more }, this.#output)
  }

  /** Sends a prompt into the open turn. Rejects if the agent does not support it. */
  steer(text: string): Promise<void> {
    return this.#handle.session.steer(text)
  }

  /** Changes the model; `null` selects the default of the agent. Resolves with the time the change takes effect. */
  setModel(model: string | null): Promise<Applied> {
    return this.#handle.session.change({ type: 'set_model', model })
  }

  /** Selects one of the agent's own modes. Resolves with the time the change takes effect. */
  setMode(mode: string): Promise<Applied> {
    return this.#handle.session.change({ type: 'set_policy', mode })
  }

  /** The agent's own id of the conversation. Pass it as `resume` to continue the conversation later. */
  get nativeSessionId(): string | undefined {
    return this.#handle.session.nativeSessionId
  }

  /** Starts the agent's process now, so that the first prompt does not wait for it. */
  warm(): Promise<void> {
    return this.#handle.session.warm()
  }

  /** Answers an open request, given its `request.opened` event. The first answer wins. */
  answer({ requestId, inputDigest }: AnswerableRequest, answer: Answer): Promise<void> {
    // A copy, because the log keeps the answer and the caller may edit it later.
    return this.#handle.session.answer({ type: 'answer', requestId, inputDigest, ...structuredClone(answer) })
  }

  /** Stops the open turn. Resolves when the turn has its `turn.completed` event. */
  interrupt(): Promise<void> {
    return this.#handle.session.interrupt()
  }

  /** Replays the log after a `seq`, then streams new entries until the session ends. */
  entries({
    after = this.#handle.retention?.evictedTo ?? 0,
    signal,
  }: {
    after?: number
    signal?: AbortSignal
  } = {}): AsyncIterableIterator<Entry, void> {
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
    } finally {
      await position?.close()
    }
  }

  /** Ends the session and its process. `await using` calls it at the end of the block. */
  async close(): Promise<void> {
    await this.#handle.sessions.end(this.id)
    this.#leave.abort()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #answerAll(answerer: Answerer): Promise<void> {
    for await (const { event } of this.entries()) {
      const isAsked = event.type === 'request.opened' && (event.answeredBy ?? 'person') === 'person'
      if (isAsked) void this.#decide(event, answerer)
    }
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
      return this.#deny(asked, `onRequest failed: ${toMainstemError(thrown).message}`)
    }
    try {
      await this.answer(asked, answer)
    } catch (thrown) {
      const { code, message } = toMainstemError(thrown)
      // A late answer needs no further action. An invalid one must not leave the agent waiting.
      if (code === 'request_not_found' || code === 'conflict') return
      await this.#deny(asked, `the answer from onRequest was rejected: ${message}`)
    }
  }

  /** Denies as policy and not as a person, because no person decided. The turn reports the reason. */
  async #deny({ requestId, inputDigest }: AnswerableRequest, message: string): Promise<void> {
    const refusal = {
      type: 'answer',
      requestId,
      inputDigest,
      decision: 'deny',
      message,
      by: 'policy',
    } as const
    await this.#handle.session.answer(refusal).catch(() => undefined)
  }
}
