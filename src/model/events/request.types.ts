// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type {
  Answers,
  ClientKind,
  Decider,
  Decision,
  Question,
  RequestKind,
  RequestOption,
  Scope,
} from '../request/request.types.ts'
import type { Location, ToolKind } from '../request/tool.types.ts'

/**
 * The agent asks for a decision. The turn waits for the answer unless `blocking` is false. `tool` and `input`
 * are those of the tool call that runs if the request is allowed.
 */
export type RequestOpened = {
  /** Narrows the union. */
  type: 'request.opened'
  /** Identifies the request. Agents may reuse an id once its request is closed. */
  requestId: string
  /** The kind of decision. */
  kind: RequestKind
  /** False if the agent continues to work while the request is open. */
  blocking: boolean
  /** The tool call that needs the decision. */
  toolId?: string | undefined
  /** The agent's own name of the tool. */
  tool?: string | undefined
  /** The kind of the tool; policies decide by it. */
  toolKind?: ToolKind | undefined
  /**
   * The name of the tool that is the same for every agent: `execute`, `edit`, `mcp:docs/search`; its own name
   * if it has no other.
   */
  canonicalName?: string | undefined
  /** The files that the tool call concerns. */
  locations?: Location[] | undefined
  /** A one-line summary for people. */
  title?: string | undefined
  /** The input of the tool call. */
  input?: unknown
  /**
   * What the agent asks for, if that is not the tool call alone: such as access to a directory or to the
   * network. A policy that allows the tool does not allow this.
   */
  permission?: string | undefined
  /** How the agent describes the request, if that is not the input of the tool call. */
  data?: unknown
  /** A digest of the request. Send it with the answer to bind the answer to this input. */
  inputDigest: string
  /** The decisions that the agent offers. */
  options: RequestOption[]
  /** The questions of a request of kind `question`. */
  questions?: Question[] | undefined
  /**
   * Who decides; a person if absent. `nobody`: a person would have to decide but none is attending, so the
   * request is denied.
   */
  answeredBy?: 'person' | 'policy' | 'hook' | 'nobody' | undefined
  /** The id of the sub-agent that asks; absent on the main thread. */
  parent?: string | undefined
}

/** A request was answered. Committed to the log before the answer is written to the agent. */
export type RequestResolved = {
  /** Narrows the union. */
  type: 'request.resolved'
  /** Identifies the request. Agents may reuse an id once its request is closed. */
  requestId: string
  /** The decision. */
  decision: Decision
  /** How long an `allow` applies. */
  scope?: Scope | undefined
  /** The answers to the questions. */
  answers?: Answers | undefined
  /** A message to the agent. */
  message?: string | undefined
  /** The input as the answer rewrote it. */
  input?: unknown
  /** Who decided. */
  by: Decider
  /** The principal whose client sent the answer; `local` for the user of this machine. */
  principal?: string | undefined
  /** The kind of client that sent the answer, as it named itself. */
  client?: ClientKind | undefined
}

/** A request was closed without an answer from this session. */
export type RequestWithdrawn = {
  /** Narrows the union. */
  type: 'request.withdrawn'
  /** Identifies the request. Agents may reuse an id once its request is closed. */
  requestId: string
  /**
   * `agent`: the agent withdrew it; `replaced`: the agent opened another request under its id;
   * `answered_elsewhere`: another client of the agent answered it.
   */
  reason: 'interrupted' | 'agent' | 'replaced' | 'answered_elsewhere' | 'turn_ended' | 'process_ended'
  /** The decision, if the agent reports one. */
  decision?: Decision | undefined
}
