import type { AnswerCommand } from '../model/index.ts'

/** How a session stands. */
export type SessionState = 'running' | 'done' | 'failed' | 'cancelled'

export interface SessionSummary {
  id: string
  state: SessionState
}

/** The place of a reader in a session: how many messages it has, and the id of the last where it was told. */
export interface Cursor {
  readonly count: number
  readonly id?: string
}

export const START: Cursor = { count: 0 }

/** One message as it came, and the place behind it. */
export interface Delivery {
  readonly text: string
  readonly cursor: Cursor
}

export interface CreateOptions {
  /** Makes it safe to send the same request again. */
  idempotencyKey?: string | undefined
  signal?: AbortSignal | undefined
}

/**
 * A decision about an open request: `answered` with `answers` for questions, otherwise `allow` or `deny`. An `allow`
 * holds once, unless it has another `scope`; a `message` is sent to the agent.
 */
export interface RequestAnswer
  extends Pick<AnswerCommand, 'decision' | 'scope' | 'answers' | 'message' | 'interrupt'> {
  /** The `inputDigest` of the request: an answer holds for the input that was shown. */
  inputDigest: string
}

/**
 * The way to a server. All of them count the same messages, so that one can take over from another in the middle.
 * Nothing here tries again: whoever reads comes back with the last cursor.
 */
export interface Transport {
  create(request: unknown, options?: CreateOptions): Promise<SessionSummary>
  list(signal?: AbortSignal): Promise<readonly SessionSummary[]>
  state(session: string, signal?: AbortSignal): Promise<SessionState>
  cancel(session: string, signal?: AbortSignal): Promise<void>
  answer(session: string, requestId: string, answer: RequestAnswer, signal?: AbortSignal): Promise<void>
  /** How many messages there are by now, if there are `least` for certain. */
  count(session: string, least: number, signal?: AbortSignal): Promise<number>
  /**
   * One connection: the messages after a place, in batches. It ends when the server ends it, and fails when it
   * breaks; both tell nothing about the session.
   */
  connect(session: string, from: Cursor, signal: AbortSignal): AsyncIterable<readonly Delivery[]>
}
