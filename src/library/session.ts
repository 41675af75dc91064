import type { RequestOpened } from '../model/events/request.ts'
import type { AnswerCommand, Entry } from '../model/index.ts'
import type { Session } from '../sessions/session.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { Turn } from './turn.ts'

/** A decision on a request, without the request it belongs to. */
export type Answer = Omit<AnswerCommand, 'type' | 'requestId' | 'by'>

/** Asked for every request that the policy leaves to a person. */
export type Answerer = (request: RequestOpened) => Answer | Promise<Answer>

/** A conversation with an agent. Disposing of it ends the agent's process. */
export class AgentSession implements AsyncDisposable {
  readonly id: string
  readonly #sessions: Sessions
  readonly #session: Session
  readonly #leave = new AbortController()

  constructor(sessions: Sessions, session: Session, answerer: Answerer | undefined) {
    this.id = session.id
    this.#sessions = sessions
    this.#session = session
    if (answerer) void this.#answerAll(answerer)
  }

  /** Begins a turn, or queues it behind the one that is open. */
  prompt(text: string, { signal }: { signal?: AbortSignal } = {}): Turn {
    return new Turn(this.#sessions, this.#session, text, signal)
  }

  /** Decides an open request; the first decision wins. */
  answer(requestId: string, answer: Answer): Promise<void> {
    return this.#session.answer({ type: 'answer', requestId, ...answer })
  }

  /** Stops the open turn and settles when it has its terminal event. */
  interrupt(): Promise<void> {
    return this.#session.interrupt()
  }

  /** The whole log, replayed from a cursor and then live, until the session ends. */
  async *entries({
    after = 0,
    signal,
  }: {
    after?: number
    signal?: AbortSignal
  } = {}): AsyncGenerator<Entry, void> {
    const until = signal ? AbortSignal.any([signal, this.#leave.signal]) : this.#leave.signal
    for await (const batch of this.#sessions.follow(this.id, after, until)) yield* batch
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sessions.end(this.id)
    this.#leave.abort()
  }

  async #answerAll(answerer: Answerer): Promise<void> {
    for await (const { event } of this.entries()) {
      if (event.type === 'request.opened') void this.#decide(event, answerer)
    }
  }

  /** An answerer that fails must not leave the agent waiting, and must never count as consent. */
  async #decide(request: RequestOpened, answerer: Answerer): Promise<void> {
    const { requestId } = request
    let answer: Answer
    try {
      answer = await answerer(request)
    } catch (thrown) {
      answer = { decision: 'deny', message: `the answer failed: ${String(thrown)}` }
    }
    // Somebody may have answered before, or the agent may have withdrawn the question.
    await this.answer(requestId, answer).catch(() => undefined)
  }
}
