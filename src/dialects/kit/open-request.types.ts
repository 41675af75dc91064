// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { Decision, Question, RequestKind, RequestOption } from '../../model/request/request.types.ts'

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
}
