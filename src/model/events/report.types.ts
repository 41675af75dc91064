// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { BlobRef } from '../blob.types.ts'

/** The agent summarised the conversation to free space in the context window. */
export type ContextCompacted = {
  /** Narrows the union. */
  type: 'context.compacted'
  /** Tokens in the context window before. */
  before?: number | undefined
  /** Tokens in the context window after. */
  after?: number | undefined
  /** The reason that the agent reports, such as `auto` or `manual`. */
  trigger?: string | undefined
}

/**
 * Token counts and cost. `step` is one model call of the main thread. `subagent` is the usage of a sub-agent
 * since its last report; without `subagentId`, of several sub-agents together. `turn` is the total of a turn,
 * steps and sub-agents included: at most one per turn, never added to the others. A `subagent` report outside
 * a turn belongs to no turn's total; it is added to the usage of the session directly. `context` is how full
 * the window is.
 */
export type UsageReported = {
  /** Narrows the union. */
  type: 'usage.reported'
  /** The work that the counts cover. */
  scope: 'step' | 'turn' | 'subagent' | 'context'
  /** Input tokens that were neither read from nor written to a cache. */
  input?: number | undefined
  /** Output tokens, `reasoning` included. */
  output?: number | undefined
  /** Input tokens that were read from a cache. */
  cacheRead?: number | undefined
  /** Input tokens that were written to a cache. */
  cacheWrite?: number | undefined
  /** Output tokens of the reasoning. */
  reasoning?: number | undefined
  /** `input` + `cacheRead` + `cacheWrite` + `output`. */
  total?: number | undefined
  /** The cost in US dollars. */
  costUsd?: number | undefined
  /**
   * True if some model calls are missing, such as those of sub-agents or one that was cut off. Each count is
   * then a minimum.
   */
  partial?: true | undefined
  /** The sub-agent of a `subagent` report. */
  subagentId?: string | undefined
  /** The model that was called. */
  model?: string | undefined
  /** Tokens in the context window. */
  contextUsed?: number | undefined
  /** Tokens that fit in the context window. */
  contextSize?: number | undefined
  /** `agent`: the agent reported the counts; `computed`: Mainstem calculated them from other reports. */
  source: 'agent' | 'computed'
}

/**
 * The agent waits for a limit of its model provider: it retries a call, or a rate limit or a quota applies.
 */
export type LimitReported = {
  /** Narrows the union. */
  type: 'limit.reported'
  /**
   * `retry`: the agent repeats a call; `rate`: how much of a limit is used; `quota`: the limit is used up,
   * and calls are refused until it resets.
   */
  kind: 'retry' | 'rate' | 'quota'
  /** The number of this retry. */
  attempt?: number | undefined
  /** The largest number of retries. */
  of?: number | undefined
  /** Milliseconds until the retry. */
  delayMs?: number | undefined
  /** The HTTP status of the model's API. */
  status?: number | undefined
  /** The agent's message. */
  message?: string | undefined
  /** When the limit resets or the call is retried, in milliseconds since 1970. */
  resetsAt?: number | undefined
  /** How much of the limit is used, in percent. */
  usedPercent?: number | undefined
  /** Who is billed for calls under this limit, such as the plan of a subscription, as the agent names it. */
  account?: string | undefined
}

/** Identifies a notice. */
export type NoticeCode =
  | 'agent_warning'
  | 'agent_error'
  | 'deprecated'
  | 'loop_detected'
  | 'background_started'
  | 'background_finished'
  | 'tool_refused'
  | 'mode_refused'
  | 'interrupt_refused'
  | 'interrupt_unconfirmed'
  | 'late_frame'
  | 'untested_version'
  | 'shared_directory'
  | 'protocol_refused'
  | 'resume_failed'
  | 'context_lost'
  | 'goal_changed'
  | 'secrets_masked'
  | 'process_survived'
  | 'agent_silent'
  | 'exit_forced'
  | 'message_truncated'
  | 'answer_invalid'
  | 'events_missing'
  | 'not_continued'
  | 'reattached'

/** A warning. It ends neither the turn nor the session. */
export type NoticeRaised = {
  /** Narrows the union. */
  type: 'notice.raised'
  /** The severity. */
  level: 'info' | 'warning' | 'error'
  /** Identifies the notice; branch on it. */
  code: NoticeCode
  /** The notice for people. */
  message: string
  /** Details; their shape depends on `code`. */
  data?: unknown
}

/** A line that the process wrote outside its protocol, such as a log line on stderr. */
export type OutputWritten = {
  /** Narrows the union. */
  type: 'output.written'
  /** The stream that the line was written to. */
  stream: 'stdout' | 'stderr'
  /** The line, without its line break. */
  line: string
}

/** A frame of the agent that Mainstem has no rule for, kept whole: as its text, or as a blob. */
export type NativeUnmapped = {
  /** Narrows the union. */
  type: 'native.unmapped'
  /** The agent's own type of the frame. */
  nativeType: string
  /** The text of the frame. */
  frame?: string | undefined
  /** The frame, if it is too large for an event. */
  blob?: BlobRef | undefined
}
