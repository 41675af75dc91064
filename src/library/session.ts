/// <reference lib="esnext.disposable" preserve="true" />
import type { RequestOpened } from '../model/events/request.ts'
import { type AnswerCommand, type Applied, type Entry, toMainstemError } from '../model/index.ts'
import { copyEntry } from './copy-entry.ts'
import type { Handle } from './handle.ts'
import { OneByOne } from './one-by-one.ts'
import type { OutputSchema } from './output.ts'
import type { Place } from './readers.ts'
import { Turn, type TurnPrompt } from './turn.ts'

/** A decision on a request, without the request it belongs to. */
export type Answer = Omit<AnswerCommand, 'type' | 'requestId' | 'by'>

/** What an answer needs of a `request.opened` event: its id, and the digest of what was asked. */
export type AnswerableRequest = Pick<RequestOpened, 'requestId' | 'inputDigest'>

/** Asked for every request that the policy leaves to a person. */
export type Answerer = (request: RequestOpened) => Answer | Promise<Answer>

/** A conversation with an agent. Disposing of it ends the agent's process. */
export class AgentSession<T = unknown> implements AsyncDisposable {
  readonly id: string
  readonly #handle: Handle
  readonly #output: OutputSchema<T> | undefined
  readonly #leave = new AbortController()

  constructor(handle: Handle, answerer: Answerer | undefined, output: OutputSchema<T> | undefined) {
    this.id = handle.hold.session
    this.#handle = handle
    this.#output = output
    if (answerer) void this.#answerAll(answerer)
  }

  /** Begins a turn, or queues it behind the one that is open. */
  prompt(text: string, more: Omit<TurnPrompt, 'text'> = {}): Turn<T> {
    return new Turn(this.#handle, { text, ...more }, this.#output)
  }

  /** Tells the agent something while it works; refused where the agent cannot take it. */
  steer(text: string): Promise<void> {
    return this.#handle.session.steer(text)
  }

  /** Changes the model; `null` returns to the default of the agent. Resolves with when the change takes effect. */
  setModel(model: string | null): Promise<Applied> {
    return this.#handle.session.change({ type: 'set_model', model })
  }

  /** One of the agent's own modes. */
  setMode(mode: string): Promise<Applied> {
    return this.#handle.session.change({ type: 'set_policy', mode })
  }

  /** The agent's own id of the conversation: give it as `resume` to go on another day. */
  get nativeSessionId(): string | undefined {
    return this.#handle.session.nativeSessionId
  }

  /** Starts the agent's process now, so that the first prompt need not wait for it. */
  warm(): Promise<void> {
    return this.#handle.session.warm()
  }

  /** Decides an open request, given its `request.opened` event. The first decision wins. */
  answer({ requestId, inputDigest }: AnswerableRequest, answer: Answer): Promise<void> {
    // A copy, because the log keeps the answer and the caller may edit it later.
    return this.#handle.session.answer({ type: 'answer', requestId, inputDigest, ...structuredClone(answer) })
  }

  /** Stops the open turn and settles when it has its terminal event. */
  interrupt(): Promise<void> {
    return this.#handle.session.interrupt()
  }

  /** The whole log, or what is kept of it, replayed from a cursor and then live, until the session ends. */
  entries({
    after = this.#handle.readers?.edge ?? 0,
    signal,
  }: {
    after?: number
    signal?: AbortSignal
  } = {}): AsyncIterableIterator<Entry, void> {
    const until = signal ? AbortSignal.any([signal, this.#leave.signal]) : this.#leave.signal
    const { readers } = this.#handle
    const place = readers?.enter(after)
    const reading = new OneByOne(this.#batches(after, until, place), copyEntry)
    if (place) readers?.leaveWith(reading, place)
    return reading
  }

  async *#batches(
    after: number,
    signal: AbortSignal,
    place: Place | undefined,
  ): AsyncGenerator<readonly Entry[], void> {
    try {
      for await (const batch of this.#handle.sessions.follow(this.id, after, signal)) {
        yield batch
        const last = batch.at(-1)
        if (last) await place?.pass(last.seq)
      }
    } finally {
      await place?.leave()
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
      const isAsked = event.type === 'request.opened' && (event.asks ?? 'person') === 'person'
      if (isAsked) void this.#decide(event, answerer)
    }
  }

  /** An answerer that fails must not leave the agent waiting, and must never count as consent. */
  async #decide(request: RequestOpened, answerer: Answerer): Promise<void> {
    // Taken before the callback runs, which may edit the request.
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
      // One that came too late needs nothing more; one that does not fit must not leave the agent waiting.
      if (code === 'request_not_found' || code === 'conflict') return
      await this.#deny(asked, `the answer of onRequest was refused: ${message}`)
    }
  }

  /** Not by a person: a failed callback has decided nothing, and the turn reports the reason. */
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
