import * as z from 'zod'
import { Usage } from '../usage.ts'
import type * as types from './work.types.ts'

const parent = z.string().optional().describe('The id of the parent sub-agent; absent on the main thread.')
const subagentId = z
  .string()
  .describe('Identifies the sub-agent; events with this id as `parent` are its own.')

/** One item of the agent's plan. */
export const PlanItem = z.strictObject({
  text: z.string().describe('The task.'),
  status: z.enum(['pending', 'in_progress', 'completed']).describe('The state of the task.'),
  priority: z.string().optional().describe("The agent's own priority of the task."),
})
export type PlanItem = types.PlanItem

/** The agent's plan (its to-do list). Each event has the whole list. */
export const PlanUpdated = z.strictObject({
  type: z.literal('plan.updated'),
  items: z.array(PlanItem).describe('All items, in order.'),
  explanation: z.string().optional().describe("The agent's comment on the plan."),
  parent,
})
export type PlanUpdated = types.PlanUpdated

/** A sub-agent started. */
export const SubagentStarted = z.strictObject({
  type: z.literal('subagent.started'),
  id: subagentId,
  toolId: z.string().optional().describe('The tool call that started the sub-agent.'),
  label: z.string().describe('A name for people.'),
  agentType: z.string().optional().describe("The agent's own type of the sub-agent."),
  model: z.string().optional().describe('The model of the sub-agent.'),
  prompt: z.string().optional().describe('The task of the sub-agent.'),
  background: z.boolean().optional().describe('True if the sub-agent may outlive its turn.'),
  parent,
})
export type SubagentStarted = types.SubagentStarted

/** Progress of a sub-agent. */
export const SubagentProgressed = z.strictObject({
  type: z.literal('subagent.progressed'),
  id: subagentId,
  message: z.string().optional().describe("The agent's message about the progress."),
  usage: Usage.optional().describe('Tokens and cost so far.'),
})
export type SubagentProgressed = types.SubagentProgressed

/** A sub-agent ended. If its turn ended before, the entry has no `turn`. */
export const SubagentCompleted = z.strictObject({
  type: z.literal('subagent.completed'),
  id: subagentId,
  status: z.enum(['success', 'error', 'cancelled']).describe('How the sub-agent ended.'),
  summary: z.string().optional().describe('The answer of the sub-agent.'),
  usage: Usage.optional().describe('Tokens and cost in total.'),
  durationMs: z.number().nonnegative().optional().describe('The duration in milliseconds.'),
})
export type SubagentCompleted = types.SubagentCompleted

const hook = {
  hookId: z.string().describe('Identifies the run of the hook.'),
  name: z.string().describe('The name of the hook.'),
  event: z.string().describe("The agent's own name of the event that triggered the hook."),
  toolId: z.string().optional().describe('The tool call that triggered the hook.'),
}

/** One of the agent's own hooks started. */
export const HookStarted = z.strictObject({ type: z.literal('hook.started'), ...hook })
export type HookStarted = types.HookStarted

/** One of the agent's own hooks ended. */
export const HookCompleted = z.strictObject({
  type: z.literal('hook.completed'),
  ...hook,
  status: z
    .enum(['success', 'error', 'blocked', 'cancelled'])
    .describe('How the hook ended. `blocked`: it forbade the tool call.'),
  output: z.string().optional().describe('The output of the hook.'),
  exitCode: z.int().optional().describe('The exit code of the hook.'),
})
export type HookCompleted = types.HookCompleted
