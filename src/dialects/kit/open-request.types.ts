// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type {
  ClientKind,
  Decider,
  Decision,
  Question,
  RequestKind,
  RequestOption,
} from '../../model/request/request.types.ts'
import type { Location } from '../../model/request/tool.types.ts'

/** The HTTP call that answers a request. */
export type AnswerRoute = {
  /** The HTTP method. */
  method: 'POST'
  /** The path on the server. */
  path: string
}

/** An open request, with the HTTP call that answers it. */
export type OpenRequest = {
  /** Identifies the request. Agents may reuse an id once its request is closed. */
  requestId: string
  /** The kind of decision. */
  kind: RequestKind
  /** False if the agent continues to work while the request is open. */
  blocking: boolean
  /** The tool call that needs the decision. */
  toolId?: string | undefined
  /** The agent's own name of the tool. */
  toolName?: string | undefined
  /** A one-line summary for people. */
  title?: string | undefined
  /** The input of the tool call. */
  arguments: Record<string, unknown>
  /**
   * What the agent asks for, if that is not the tool call alone: such as access to a directory or to the
   * network. A policy that allows the tool does not allow this.
   */
  permission?: string | undefined
  /** The files that the tool call concerns. */
  locations?: Location[] | undefined
  /** How the agent describes the request, if that is not the input of the tool call. */
  data?: unknown
  /** The decisions that the agent offers. */
  options: RequestOption[]
  /** The questions of a request of kind `question`. */
  questions?: Question[] | undefined
  /** A digest of the request. Send it with the answer to bind the answer to this input. */
  inputDigest: string
  /** Send `decision` and `inputDigest` there, and `answers` for questions. */
  answer: AnswerRoute
}

/** How a request was closed. */
export type ClosedRequest = {
  /** Identifies the request. Agents may reuse an id once its request is closed. */
  requestId: string
  /** The decision; absent if the request was withdrawn or the agent does not report it. */
  decision?: Decision | undefined
  /** Why the request was withdrawn. */
  reason?:
    | 'interrupted'
    | 'agent'
    | 'replaced'
    | 'answered_elsewhere'
    | 'turn_ended'
    | 'process_ended'
    | undefined
  /** Who decided; absent if the request was withdrawn. */
  by?: Decider | undefined
  /** The principal whose client sent the answer; `local` for the user of this machine. */
  principal?: string | undefined
  /** The kind of client that sent the answer, as it named itself. */
  client?: ClientKind | undefined
}
