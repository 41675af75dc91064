// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { PlanItem } from '../../model/events/work.types.ts'
import type {
  ClientKind,
  Decider,
  Decision,
  Question,
  RequestKind,
  RequestOption,
} from '../../model/request/request.types.ts'
import type { Location } from '../../model/request/tool.types.ts'
import type { AnswerRoute } from '../kit/open-request.types.ts'

/** The agent asks for a decision. */
export type RequestOpenedEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'requestOpened'
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

/** A request was decided or withdrawn. */
export type RequestClosedEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'requestClosed'
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

/** A piece of the agent's reasoning. */
export type ReasoningChunkEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'reasoningChunk'
  /** The text. */
  content: string
  /** True for the last piece of a message. */
  isComplete: boolean
  /** The id of the parent sub-agent; absent on the main thread. */
  parent?: string | undefined
}

/** The agent's plan (its to-do list). Each event has the whole list. */
export type PlanUpdatedEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'planUpdated'
  /** All items, in order. */
  items: PlanItem[]
  /** The agent's comment on the plan. */
  explanation?: string | undefined
  /** The id of the parent sub-agent; absent on the main thread. */
  parent?: string | undefined
}

/** A tool wrote a file, and the agent did not report whether the file existed. */
export type FileWrittenEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'fileWritten'
  /** The path of the file. */
  filePath: string
  /** The tool call that changed the file. */
  toolId?: string | undefined
  /** The change as a unified diff. */
  diff?: string | undefined
  /** The content before the change. */
  before?: string | undefined
  /** The content after the change. */
  after?: string | undefined
}

/** A warning of the agent or of the server. The turn continues. */
export type NoticeRaisedEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'noticeRaised'
  /** The severity. */
  level: 'info' | 'warning'
  /** What happened. */
  message: string
  /** The code of the notice in camel case. */
  code: string
  /** The agent's own error. */
  nativeError?: string | undefined
}

/** An event of the log that this protocol has no type for. */
export type LogEntryEvent = {
  /** Identifies the event. */
  id: string
  /** The id of the session. */
  sessionId: string
  /** The time of the event in ISO 8601. */
  timestamp: string
  /** Narrows the union. */
  type: 'logEntry'
  /** The event, as in the log. */
  event: Record<string, unknown>
}
