import { z } from 'zod'

export const RequestKind = z.enum(['permission', 'question', 'plan', 'login'])
export type RequestKind = z.infer<typeof RequestKind>

export const Scope = z.enum(['once', 'session', 'always'])
export type Scope = z.infer<typeof Scope>

export const RequestOption = z.strictObject({
  id: z.string(),
  label: z.string(),
  effect: z.enum(['allow', 'deny']),
  scope: Scope,
  default: z.boolean().optional(),
})
export type RequestOption = z.infer<typeof RequestOption>

export const Question = z.strictObject({
  id: z.string(),
  header: z.string().optional(),
  text: z.string(),
  options: z.array(z.strictObject({ label: z.string(), description: z.string().optional() })),
  multiple: z.boolean().optional(),
  other: z.boolean().optional().describe('a free answer is welcome'),
  secret: z.boolean().optional(),
})
export type Question = z.infer<typeof Question>

/** Answers by question id; several where the question allows it. */
export const Answers = z.record(z.string(), z.array(z.string()))
export type Answers = z.infer<typeof Answers>

export const Decision = z.enum(['allow', 'deny', 'answered'])
export type Decision = z.infer<typeof Decision>
