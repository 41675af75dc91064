import { z } from 'zod'

const messageId = z.string()
const parent = z.string().optional().describe('the sub-agent that speaks; absent on the main thread')

/** An increment, never the text so far. */
export const TextDelta = z.strictObject({
  type: z.literal('text.delta'),
  messageId,
  text: z.string(),
  parent,
})
export type TextDelta = z.infer<typeof TextDelta>

export const ThinkingDelta = z.strictObject({
  type: z.literal('thinking.delta'),
  messageId,
  text: z.string(),
  parent,
})
export type ThinkingDelta = z.infer<typeof ThinkingDelta>

const completed = {
  messageId,
  text: z.string().describe('the whole text'),
  partial: z.boolean().optional().describe('cut, and not going to be repeated'),
  phase: z.enum(['commentary', 'final']).optional(),
  parent,
}

/** Exactly one for each message shown, also when there were no deltas. */
export const TextCompleted = z.strictObject({ type: z.literal('text.completed'), ...completed })
export type TextCompleted = z.infer<typeof TextCompleted>

export const ThinkingCompleted = z.strictObject({ type: z.literal('thinking.completed'), ...completed })
export type ThinkingCompleted = z.infer<typeof ThinkingCompleted>

/** The agent dropped a half message (text, thinking, tool drafts) and will repeat it. */
export const MessageDiscarded = z.strictObject({
  type: z.literal('message.discarded'),
  messageId,
  reason: z.enum(['stream_broken', 'refused']),
})
export type MessageDiscarded = z.infer<typeof MessageDiscarded>
