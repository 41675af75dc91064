// Generated from the schemas by `npm run schemas`; edit the schemas, not this file.

import type { Usage } from '../usage.types.ts'

/** One item of the agent's plan. */
export type PlanItem = {
  /** The task. */
  text: string
  /** The state of the task. */
  status: 'pending' | 'in_progress' | 'completed'
  /** The agent's own priority of the task. */
  priority?: string | undefined
}

/** The agent's plan (its to-do list). Each event has the whole list. */
export type PlanUpdated = {
  /** Narrows the union. */
  type: 'plan.updated'
  /** All items, in order. */
  items: PlanItem[]
  /** The agent's comment on the plan. */
  explanation?: string | undefined
  /** The id of the parent sub-agent; absent on the main thread. */
  parent?: string | undefined
}

/** A sub-agent started. */
export type SubagentStarted = {
  /** Narrows the union. */
  type: 'subagent.started'
  /** Identifies the sub-agent; events with this id as `parent` are its own. */
  id: string
  /** The tool call that started the sub-agent. */
  toolId?: string | undefined
  /** A name for people. */
  label: string
  /** The agent's own type of the sub-agent. */
  agentType?: string | undefined
  /** The model of the sub-agent. */
  model?: string | undefined
  /** The task of the sub-agent. */
  prompt?: string | undefined
  /** True if the sub-agent may outlive its turn. */
  background?: boolean | undefined
  /** The id of the parent sub-agent; absent on the main thread. */
  parent?: string | undefined
}

/** Progress of a sub-agent. */
export type SubagentProgressed = {
  /** Narrows the union. */
  type: 'subagent.progressed'
  /** Identifies the sub-agent; events with this id as `parent` are its own. */
  id: string
  /** The agent's message about the progress. */
  message?: string | undefined
  /** Tokens and cost so far. */
  usage?: Usage | undefined
}

/** A sub-agent ended. If its turn ended before, the entry has no `turn`. */
export type SubagentCompleted = {
  /** Narrows the union. */
  type: 'subagent.completed'
  /** Identifies the sub-agent; events with this id as `parent` are its own. */
  id: string
  /** How the sub-agent ended. */
  status: 'success' | 'error' | 'cancelled'
  /** The answer of the sub-agent. */
  summary?: string | undefined
  /** Tokens and cost in total. */
  usage?: Usage | undefined
  /** The duration in milliseconds. */
  durationMs?: number | undefined
}

/** One of the agent's own hooks started. */
export type HookStarted = {
  /** Narrows the union. */
  type: 'hook.started'
  /** Identifies the run of the hook. */
  hookId: string
  /** The name of the hook. */
  name: string
  /** The agent's own name of the event that triggered the hook. */
  event: string
  /** The tool call that triggered the hook. */
  toolId?: string | undefined
}

/** One of the agent's own hooks ended. */
export type HookCompleted = {
  /** Narrows the union. */
  type: 'hook.completed'
  /** Identifies the run of the hook. */
  hookId: string
  /** The name of the hook. */
  name: string
  /** The agent's own name of the event that triggered the hook. */
  event: string
  /** The tool call that triggered the hook. */
  toolId?: string | undefined
  /** How the hook ended. `blocked`: it forbade the tool call. */
  status: 'success' | 'error' | 'blocked' | 'cancelled'
  /** The output of the hook. */
  output?: string | undefined
  /** The exit code of the hook. */
  exitCode?: number | undefined
}
