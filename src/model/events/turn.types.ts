// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { ErrorInfo } from '../outcome/errors.types.ts'
import type { Outcome } from '../outcome/outcome.types.ts'
import type { ClientKind } from '../request/request.types.ts'
import type { Continuation } from '../session/continuation.types.ts'
import type { Usage } from '../usage.types.ts'

/** A prompt waits for the open turn to end. */
export type TurnQueued = {
  /** Narrows the union. */
  type: 'turn.queued'
  /** The number of the turn in its session, from 1. */
  turn: number
  /** The text of the prompt. */
  prompt: string
  /** The position in the queue, from 1. */
  position: number
  /** Set if Mainstem wrote the prompt, to continue work later. */
  continuation?: Continuation | undefined
  /** The principal whose client sent it. */
  principal?: string | undefined
  /** The kind of client that sent it, as it named itself. */
  client?: ClientKind | undefined
}

/** A turn began. */
export type TurnStarted = {
  /** Narrows the union. */
  type: 'turn.started'
  /** The number of the turn in its session, from 1. */
  turn: number
  /** `agent`: the agent started the turn itself, after background work; such a turn has no prompt. */
  origin: 'prompt' | 'agent'
  /** The text of the prompt. */
  prompt?: string | undefined
  /** The client's id of the prompt. */
  promptId?: string | undefined
  /** The principal whose client sent it. */
  principal?: string | undefined
  /** The kind of client that sent it, as it named itself. */
  client?: ClientKind | undefined
}

/** A prompt joined the open turn. */
export type TurnSteered = {
  /** Narrows the union. */
  type: 'turn.steered'
  /** The number of the turn in its session, from 1. */
  turn: number
  /** The text of the prompt. */
  prompt: string
  /** `folded`: the agent read the prompt while it worked; `restarted`: it began the turn again. */
  effect: 'folded' | 'restarted'
  /** The principal whose client sent it. */
  principal?: string | undefined
  /** The kind of client that sent it, as it named itself. */
  client?: ClientKind | undefined
}

/** How the process of a turn exited. */
export type TurnExit = {
  /** The exit code. */
  code?: number | undefined
  /** The signal that ended the process. */
  signal?: string | undefined
  /** The agent exits with this code when another process tells it to stop by SIGTERM or SIGINT. */
  stopped?: true | undefined
}

/** The end of a turn. Every turn has exactly one, also if the agent or the server crashed. */
export type TurnCompleted = {
  /** Narrows the union. */
  type: 'turn.completed'
  /** The number of the turn in its session, from 1. */
  turn: number
  /** How the turn ended. */
  outcome: Outcome
  /** The error, for outcomes that have one. */
  error?: ErrorInfo | undefined
  /** The final answer. */
  result?: string | undefined
  /** The final answer as JSON, if the session has an `outputSchema`. */
  structured?: unknown
  /** Tokens and cost of the turn; absent if the agent reports none. */
  usage?: Usage | undefined
  /** Milliseconds from the start of the turn. */
  durationMs: number
  /** How the process exited, if it did. */
  exit?: TurnExit | undefined
  /** The agent's own reason for the end. */
  nativeReason?: string | undefined
  /** The number of tool calls that were denied. */
  denials: number
  /** Details that only this agent reports, such as the diff of the whole turn. */
  data?: unknown
}
