import type { RequestAnswer } from '../../model/index.ts'

/** The state of a session. */
export type SessionState = 'running' | 'done' | 'failed' | 'cancelled'

/** A session in a list. */
export interface SessionSummary {
  /** The id of the session. */
  id: string
  /** The state of the session. */
  state: SessionState
}

/** A session that received a prompt. */
export interface CreatedSession extends SessionSummary {
  /** The number of the prompt's turn; absent if the server does not report it. */
  turn?: number
}

/** A position in the messages of a session. */
export interface Cursor {
  /** The number of messages before the position. */
  readonly count: number
  /** The id of the last message, if the transport has ids. */
  readonly id?: string
}

/** The position before the first message. */
export const START: Cursor = { count: 0 }

/** A message with its cursor. */
export interface Delivery {
  /** The message as JSON. */
  readonly text: string
  /** The position after the message. */
  readonly cursor: Cursor
}

/** Options of `create`. */
export interface CreateOptions {
  /** Send the same key again to get the same session. */
  idempotencyKey?: string | undefined
  /** Aborts the call. */
  signal?: AbortSignal | undefined
}

/**
 * A connection to a server. All transports count the same messages, so that one can continue after another. A transport
 * does not retry; the caller connects again with its last cursor.
 */
export interface Transport {
  /** Starts a session, or sends a prompt to one. */
  create(request: unknown, options?: CreateOptions): Promise<CreatedSession>
  /** Lists the sessions of the server. */
  list(signal?: AbortSignal): Promise<readonly SessionSummary[]>
  /** The state of a session. */
  state(session: string, signal?: AbortSignal): Promise<SessionState>
  /** Cancels a session. */
  cancel(session: string, signal?: AbortSignal): Promise<void>
  /** Answers an open request of a session. */
  answer(session: string, requestId: string, answer: RequestAnswer, signal?: AbortSignal): Promise<void>
  /** Counts the messages of a session, given that it has at least `least`. */
  count(session: string, least: number, signal?: AbortSignal): Promise<number>
  /**
   * Opens one connection: the messages after a cursor, in batches. It ends when the server ends it and throws when it
   * breaks. Neither means that the session has ended.
   */
  connect(session: string, from: Cursor, signal: AbortSignal): AsyncIterable<readonly Delivery[]>
}
