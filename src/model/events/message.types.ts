// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

/** A piece of text that the agent wrote. Deltas are increments: append them to get the text so far. */
export type TextDelta = {
  /** Narrows the union. */
  type: 'text.delta'
  /** Identifies the message; its deltas and its completion share the id. */
  messageId: string
  /** The new text only. */
  text: string
  /** The id of the sub-agent that writes; absent on the main thread. */
  parent?: string | undefined
}

/** A piece of the agent's reasoning. Append the deltas to get the reasoning so far. */
export type ThinkingDelta = {
  /** Narrows the union. */
  type: 'thinking.delta'
  /** Identifies the message; its deltas and its completion share the id. */
  messageId: string
  /** The new reasoning only. */
  text: string
  /** The id of the sub-agent that writes; absent on the main thread. */
  parent?: string | undefined
}

/** A complete text message. Every message has exactly one, also if the agent sent no deltas. */
export type TextCompleted = {
  /** Narrows the union. */
  type: 'text.completed'
  /** Identifies the message; its deltas and its completion share the id. */
  messageId: string
  /** The whole text. */
  text: string
  /** True if the text was cut off and will not be repeated. */
  partial?: boolean | undefined
  /** Whether the agent comments on its work or gives its final answer; absent if it does not report it. */
  phase?: 'commentary' | 'final' | undefined
  /** The id of the sub-agent that writes; absent on the main thread. */
  parent?: string | undefined
}

/** A complete block of reasoning. Every block has exactly one, also if the agent sent no deltas. */
export type ThinkingCompleted = {
  /** Narrows the union. */
  type: 'thinking.completed'
  /** Identifies the message; its deltas and its completion share the id. */
  messageId: string
  /** The whole reasoning. */
  text: string
  /** True if the text was cut off and will not be repeated. */
  partial?: boolean | undefined
  /** Whether the agent comments on its work or gives its final answer; absent if it does not report it. */
  phase?: 'commentary' | 'final' | undefined
  /** The id of the sub-agent that writes; absent on the main thread. */
  parent?: string | undefined
}

/** The agent dropped an incomplete message (text, reasoning, drafts of tool calls) and will send it again. */
export type MessageDiscarded = {
  /** Narrows the union. */
  type: 'message.discarded'
  /** Identifies the message; its deltas and its completion share the id. */
  messageId: string
  /** `stream_broken`: the connection to the model failed; `refused`: the model declined. */
  reason: 'stream_broken' | 'refused'
}
