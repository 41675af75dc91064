// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { RequestOpened } from '../events/request.types.ts'
import type { SessionId, SessionName } from '../ids.types.ts'
import type { ErrorInfo } from '../outcome/errors.types.ts'
import type { Outcome } from '../outcome/outcome.types.ts'
import type { Author, ClientKind } from '../request/request.types.ts'
import type { Usage } from '../usage.types.ts'
import type { LaunchKind } from './capability.types.ts'
import type { ContextUsage } from './context-usage.types.ts'
import type { Continuation, ContinuationCount } from './continuation.types.ts'
import type { Coverage } from './coverage.types.ts'
import type { SessionOptions } from './options.types.ts'
import type { Policy } from './policy.types.ts'

/** A prompt that waits in the queue. */
export type QueuedPrompt = {
  /** The number that the turn has. */
  turn: number
  /** The text of the prompt; of a long one only the beginning. */
  prompt: string
  /** Set if `prompt` is only the beginning of the text. */
  truncated?: true | undefined
  /** The number of its images. */
  images?: number | undefined
  /** Set if Mainstem wrote the prompt, to continue work later. */
  continuation?: Continuation | undefined
  /** The principal whose client sent it. */
  principal?: string | undefined
  /** The kind of client that sent it, as it named itself. */
  client?: ClientKind | undefined
}

/** A range of turns that clients of `/rpc` have received. */
export type DeliveredTurns = {
  /** The first turn. */
  first: number
  /** The last turn. */
  last: number
  /** The last entry that was delivered, if the last turn had not ended. */
  seq?: number | undefined
}

/** A usage limit that is used up. */
export type UsedUpLimit = {
  /** When the limit resets or the call is retried, in milliseconds since 1970. */
  resetsAt?: number | undefined
  /** The agent's message. */
  message?: string | undefined
  /** Who is billed for calls under this limit, such as the plan of a subscription, as the agent names it. */
  account?: string | undefined
}

/** The last change of the agent. */
export type HandedOver = {
  /** The last entry before `session.handed_over`, which has the recap. */
  through: number
  /** A turn has begun since. */
  prompted: boolean
}

/** The state of a session: a fold over its log, stored beside the log so that it need not be read. */
export type SessionRecord = {
  /** The id of the session. */
  id: SessionId
  /** The principal that owns the session. */
  principal: string
  /** The id of the agent. */
  agent: string
  /** How the agent is run. */
  launch: LaunchKind
  /** The agent's working directory. */
  cwd: string
  /** The project that the client named. */
  project?: string | undefined
  /** The name that the client gave the session. */
  name?: SessionName | undefined
  /** The current policy. */
  policy: Policy
  /** The agent's own mode, if one was selected by name. */
  mode?: string | undefined
  /** The options of the session. */
  options: SessionOptions
  /** True if a person can answer requests. */
  attended: boolean
  /** True for a run of `/v1/execute`: the session ends with its first turn and takes no other prompt. */
  single?: boolean | undefined
  /** Only a node with all of these labels runs the session. */
  labels?: string[] | undefined
  /** The node that runs the session, or ran it last. */
  node?: string | undefined
  /** `busy` while a turn is open; `ended` once the session accepts no more prompts. */
  status: 'idle' | 'busy' | 'ended'
  /** When the session was created, in milliseconds since 1970. */
  createdAt: number
  /** When the session changed last, in milliseconds since 1970. */
  updatedAt: number
  /** The `seq` of the last entry. */
  head: number
  /** The `seq` of the first entry that is kept, if older entries were deleted. */
  earliest?: number | undefined
  /** The number of the first raw frame that is kept, if older frames were deleted. */
  earliestFrame?: number | undefined
  /** The number of the last turn. */
  turns: number
  /** The number of the open turn. */
  openTurn?: number | undefined
  /** Who sent the prompt of the open turn. */
  openTurnBy?: Author | undefined
  /** When the agent wrote last, once a notice has reported its silence in the open turn. */
  silentSince?: number | undefined
  /** The prompts that wait, in order. */
  queue: QueuedPrompt[]
  /** The open requests, oldest first. */
  requests: RequestOpened[]
  /** Set while the work continues without a person: the continuations since the person's last prompt. */
  continued?: ContinuationCount | undefined
  /**
   * The usage limit that the agent reported as used up, until a turn completes. Compare `resetsAt` with the
   * time.
   */
  limit?: UsedUpLimit | undefined
  /** The outcome of the last turn that ended. */
  lastOutcome?: Outcome | undefined
  /** Clients of `/rpc` have received every entry up to this one. */
  delivered?: number | undefined
  /** The turns that clients of `/rpc` have received, in order. */
  deliveredTurns?: DeliveredTurns[] | undefined
  /** Tokens and cost of all turns. */
  usage: Usage
  /** How full the context window is, as far as the agent reports it. Its size is that of the last model. */
  context?: ContextUsage | undefined
  /** The title that the agent gave the session, or the beginning of its first prompt. */
  title?: string | undefined
  /** The model in use. */
  model?: string | undefined
  /** The agent's own session, once the agent has worked in it. */
  nativeSessionId?: string | undefined
  /** The agent's own session that it announced but has not worked in yet; resumed once. */
  announcedSessionId?: string | undefined
  /** The agent's own session that this one continues. */
  resumedFrom?: string | undefined
  /** Set after another agent has continued the session. */
  handedOver?: HandedOver | undefined
  /** True if it continues a copy of `resumedFrom`. */
  fork?: boolean | undefined
  /** The number of raw frames so far. */
  frames: number
  /** The frames of the agent by verdict. */
  coverage?: Coverage | undefined
  /**
   * Why the log of the session cannot be written now. Its turn has stopped, and it accepts no commands until
   * the log can be written. Not stored.
   */
  failure?: ErrorInfo | undefined
  /** The number of the agent's processes so far; the run id of each is `<id>.<epoch>`. */
  epoch: number
}
