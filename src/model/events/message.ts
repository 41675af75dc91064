import * as z from 'zod'
import type * as types from './message.types.ts'

const messageId = z.string().describe('Identifies the message; its deltas and its completion share the id.')
const parent = z
  .string()
  .optional()
  .describe('The id of the sub-agent that writes; absent on the main thread.')
const phase = z
  .enum(['commentary', 'final'])
  .optional()
  .describe(
    'Whether the agent comments on its work or gives its final answer; absent if it does not report it.',
  )
const partial = z.boolean().optional().describe('True if the text was cut off and will not be repeated.')

/** A piece of text that the agent wrote. Deltas are increments: append them to get the text so far. */
export const TextDelta = z.strictObject({
  type: z.literal('text.delta'),
  messageId,
  text: z.string().describe('The new text only.'),
  parent,
})
export type TextDelta = types.TextDelta

/** A piece of the agent's reasoning. Append the deltas to get the reasoning so far. */
export const ThinkingDelta = z.strictObject({
  type: z.literal('thinking.delta'),
  messageId,
  text: z.string().describe('The new reasoning only.'),
  parent,
})
export type ThinkingDelta = types.ThinkingDelta

/** A complete text message. Every message has exactly one, also if the agent sent no deltas. */
export const TextCompleted = z.strictObject({
  type: z.literal('text.completed'),
  messageId,
  text: z.string().describe('The whole text.'),
  partial,
  phase,
  parent,
})
export type TextCompleted = types.TextCompleted

/** A complete block of reasoning. Every block has exactly one, also if the agent sent no deltas. */
export const ThinkingCompleted = z.strictObject({
  type: z.literal('thinking.completed'),
  messageId,
  text: z.string().describe('The whole reasoning.'),
  partial,
  phase,
  parent,
})
export type ThinkingCompleted = types.ThinkingCompleted

/** The agent dropped an incomplete message (text, reasoning, drafts of tool calls) and will send it again. */
export const MessageDiscarded = z.strictObject({
  type: z.literal('message.discarded'),
  messageId,
  reason: z
    .enum(['stream_broken', 'refused'])
    .describe('`stream_broken`: the connection to the model failed; `refused`: the model declined.'),
})
export type MessageDiscarded = types.MessageDiscarded
