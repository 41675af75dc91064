import type { PlanItem } from '../../model/events/work.ts'
import type { Emitted, Start } from '../agent.ts'
import { type Fields, fields, isFields, list, objects, sameValue, text } from '../kit/fields.ts'
import { ruleTable } from '../kit/rules.ts'

/**
 * Claude's task list: tasks are created, changed and removed one by one, each with an id. Some versions write the
 * complete list instead.
 */
export interface Tasks {
  /** Undefined while unknown tasks of an earlier process may exist. */
  known: Map<string, PlanItem> | undefined
  /** The inputs of open calls whose results do not repeat them. */
  readonly inputs: Map<string, Fields>
}

export function noTasks({ resume }: Start): Tasks {
  return { known: resume === undefined ? new Map() : undefined, inputs: new Map() }
}

/** Stores the input of a call whose result does not repeat it. */
export function noteTaskCall({ inputs }: Tasks, tool: string, toolId: string, input: unknown): void {
  if ((tool === 'TaskUpdate' || tool === 'TodoWrite') && isFields(input)) inputs.set(toolId, input)
}

type TaskRule = (tasks: Tasks, result: Fields, input: Fields) => void

const ruleOf = ruleTable<TaskRule>({
  TaskCreate(tasks, result) {
    const task = fields(result, 'task')
    const id = text(task, 'id')
    // Ids start at 1 in each list, so the list was empty before.
    if (id === '1') tasks.known = new Map()
    if (id !== undefined) tasks.known?.set(id, { text: text(task, 'subject') ?? '', status: 'pending' })
  },

  TaskUpdate({ known }, result, input) {
    const id = text(result, 'taskId') ?? ''
    const task = known?.get(id)
    if (!task || result.success !== true) return
    const status = text(fields(result, 'statusChange'), 'to') ?? task.status
    if (status === 'deleted') known?.delete(id)
    else known?.set(id, { text: text(input, 'subject') ?? task.text, status: statusOf(status) })
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

  TodoWrite(tasks, _result, input) {
    const items = todosIn(input)
    if (items) tasks.known = new Map(items.map((item, index) => [`${index}`, item]))
  },
})

function todosIn(input: Fields): PlanItem[] | undefined {
  if (!Array.isArray(input.todos)) return undefined
  return objects(input, 'todos').map((todo) => ({
    text: text(todo, 'content') ?? '',
    status: statusOf(text(todo, 'status')),
  }))
}

function statusOf(status: string | undefined): PlanItem['status'] {
  return status === 'in_progress' || status === 'completed' ? status : 'pending'
}

const NOTHING: Fields = {}

/** The call that ended. */
interface EndedCall {
  id: string
  name: string
  parent: string | undefined
  succeeded: boolean
}

/** Returns the complete list after a successful call, if the call changed it. */
export function planAfter(
  tasks: Tasks,
  { id, name, parent, succeeded }: EndedCall,
  result = NOTHING,
): Emitted[] {
  const rule = ruleOf(name)
  if (!rule) return []
  const input = tasks.inputs.get(id) ?? NOTHING
  tasks.inputs.delete(id)
  if (!succeeded) return []
  // A session has one task list, which its sub-agents share; a list that is written as a whole belongs to its writer.
  if (name === 'TodoWrite' && parent !== undefined) {
    const items = todosIn(input)
    return items ? [{ type: 'plan.updated', items, parent }] : []
  }
  const before = itemsOf(tasks)
  rule(tasks, result, input)
  const items = itemsOf(tasks)
  return sameValue(items, before) ? [] : [{ type: 'plan.updated', items }]
}

function itemsOf({ known }: Tasks): PlanItem[] {
  return known ? [...known.values()] : []
}
