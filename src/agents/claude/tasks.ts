import type { PlanItem } from '../../model/events/work.ts'
import type { Said, Start } from '../agent.ts'
import { type Fields, fields, isFields, list, text } from '../fields.ts'
import { ruleTable } from '../rules.ts'

/** Claude's list of things to do: tasks that are made, changed and dropped one by one, each with an id. */
export interface Tasks {
  /** Undefined while there may be tasks of an earlier process that nobody told of. */
  known: Map<string, PlanItem> | undefined
  /** New names on their way, by the call that gives them. */
  readonly names: Map<string, string>
}

export function noTasks({ resume }: Start): Tasks {
  return { known: resume === undefined ? new Map() : undefined, names: new Map() }
}

/** A call that begins: what the result does not repeat has to be remembered. */
export function noteTaskCall({ names }: Tasks, tool: string, toolId: string, input: unknown): void {
  const name = tool === 'TaskUpdate' && isFields(input) ? text(input, 'subject') : undefined
  if (name !== undefined) names.set(toolId, name)
}

type Rule = (tasks: Tasks, result: Fields, name: string | undefined) => void

const ruleOf = ruleTable<Rule>({
  TaskCreate(tasks, result) {
    const task = fields(result, 'task')
    const id = text(task, 'id')
    // Ids count from 1 in each list, so nothing was there before.
    if (id === '1') tasks.known = new Map()
    if (id !== undefined) tasks.known?.set(id, { text: text(task, 'subject') ?? '', status: 'pending' })
  },

  TaskUpdate({ known }, result, name) {
    const id = text(result, 'taskId') ?? ''
    const task = known?.get(id)
    if (!task || result.success !== true) return
    const status = text(fields(result, 'statusChange'), 'to') ?? task.status
    if (status === 'deleted') known?.delete(id)
    else known?.set(id, { text: name ?? task.text, status: statusOf(status) })
  },

  TaskList(tasks, result) {
    if (!Array.isArray(result.tasks)) return
    tasks.known = new Map()
    for (const task of list(result, 'tasks')) {
      const id = isFields(task) ? text(task, 'id') : undefined
      if (!isFields(task) || id === undefined) continue
      tasks.known.set(id, { text: text(task, 'subject') ?? '', status: statusOf(text(task, 'status')) })
    }
  },
})

function statusOf(status: string | undefined): PlanItem['status'] {
  return status === 'in_progress' || status === 'completed' ? status : 'pending'
}

/** The whole list after a call that succeeded, if the call changed it. */
export function planAfter(tasks: Tasks, tool: string, toolId: string, result: Fields): Said[] {
  const rule = ruleOf(tool)
  if (!rule) return []
  const before = JSON.stringify(itemsOf(tasks))
  rule(tasks, result, tasks.names.get(toolId))
  tasks.names.delete(toolId)
  const items = itemsOf(tasks)
  return JSON.stringify(items) === before ? [] : [{ type: 'plan.updated', items }]
}

function itemsOf({ known }: Tasks): PlanItem[] {
  return known ? [...known.values()] : []
}
