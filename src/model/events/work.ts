import { z } from 'zod'
import { Usage } from '../usage.ts'

const parent = z.string().optional()

export const PlanItem = z.strictObject({
  text: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed']),
  priority: z.string().optional(),
})
export type PlanItem = z.infer<typeof PlanItem>

/** The whole list each time. */
export const PlanUpdated = z.strictObject({
  type: z.literal('plan.updated'),
  items: z.array(PlanItem),
  explanation: z.string().optional(),
  parent,
})
export type PlanUpdated = z.infer<typeof PlanUpdated>

export const SubagentStarted = z.strictObject({
  type: z.literal('subagent.started'),
  id: z.string(),
  toolId: z.string().optional(),
  label: z.string(),
  agentType: z.string().optional(),
  model: z.string().optional(),
  prompt: z.string().optional(),
  background: z.boolean().optional(),
  parent,
})
export type SubagentStarted = z.infer<typeof SubagentStarted>

export const SubagentProgressed = z.strictObject({
  type: z.literal('subagent.progressed'),
  id: z.string(),
  message: z.string().optional(),
  usage: Usage.optional(),
})
export type SubagentProgressed = z.infer<typeof SubagentProgressed>

/** May come after its turn ended, and then belongs to no turn. */
export const SubagentCompleted = z.strictObject({
  type: z.literal('subagent.completed'),
  id: z.string(),
  status: z.enum(['success', 'error', 'cancelled']),
  summary: z.string().optional(),
  usage: Usage.optional(),
  durationMs: z.number().nonnegative().optional(),
})
export type SubagentCompleted = z.infer<typeof SubagentCompleted>

const hook = { hookId: z.string(), name: z.string(), event: z.string(), toolId: z.string().optional() }

export const HookStarted = z.strictObject({ type: z.literal('hook.started'), ...hook })
export type HookStarted = z.infer<typeof HookStarted>

export const HookCompleted = z.strictObject({
  type: z.literal('hook.completed'),
  ...hook,
  status: z.enum(['success', 'error', 'blocked', 'cancelled']),
  output: z.string().optional(),
  exitCode: z.int().optional(),
})
export type HookCompleted = z.infer<typeof HookCompleted>
