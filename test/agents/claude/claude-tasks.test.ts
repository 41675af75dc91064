import { describe, expect, test } from 'vitest'
import { call, init, returned, Talk } from './claude-talk.ts'

/** A talk with an open turn, of a conversation that is new or goes on. */
function talk(resume?: string): Talk {
  const own = new Talk('live', resume === undefined ? {} : { resume })
  own.prompt()
  own.hear(init())
  return own
}

let calls = 0

/** One call and its result: the list that was told for it, as texts with their states. */
function plan(own: Talk, tool: string, input: object, result: object, parent?: string) {
  const id = `t${++calls}`
  const told = own.hear(
    call(id, tool, input, parent),
    returned(id, 'done', { tool_use_result: result, parent_tool_use_id: parent ?? null }),
  )
  return told.flatMap((event) =>
    event.type === 'plan.updated' ? [event.items.map(({ text, status }) => `${text}: ${status}`)] : [],
  )
}

const create = (own: Talk, id: string, subject: string, parent?: string) =>
  plan(own, 'TaskCreate', { subject, description: subject }, { task: { id, subject } }, parent)

const moved = (taskId: string, to: string) => ({ success: true, taskId, statusChange: { to } })

describe('tasks', () => {
  test('are one list, emitted whole whenever a task is created, changed, renamed or removed', () => {
    const own = talk()
    expect(create(own, '1', 'Look')).toEqual([['Look: pending']])
    expect(create(own, '2', 'Change')).toEqual([['Look: pending', 'Change: pending']])
    expect(plan(own, 'TaskUpdate', { taskId: '1' }, moved('1', 'completed'))).toEqual([
      ['Look: completed', 'Change: pending'],
    ])
    const renamed = { taskId: '2', subject: 'Rewrite' }
    expect(plan(own, 'TaskUpdate', renamed, { success: true, taskId: '2' })).toEqual([
      ['Look: completed', 'Rewrite: pending'],
    ])
    expect(plan(own, 'TaskUpdate', { taskId: '1' }, moved('1', 'deleted'))).toEqual([['Rewrite: pending']])
  })

  test('that do not change emit nothing', () => {
    const own = talk()
    create(own, '1', 'Look')
    const tasks = [{ id: '1', subject: 'Look', status: 'pending' }]
    expect(plan(own, 'TaskList', {}, { tasks })).toEqual([])
    expect(plan(own, 'TaskUpdate', { taskId: '1' }, { success: false, taskId: '1' })).toEqual([])
    expect(plan(own, 'TaskUpdate', { taskId: '7' }, moved('7', 'completed'))).toEqual([])
  })

  test('of an earlier process are emitted only after all of them were listed', () => {
    const own = talk('11111111-2222-4333-8444-555555555555')
    expect(create(own, '4', 'Test')).toEqual([])
    const tasks = ['Look', 'Test'].map((subject, index) => ({
      id: `${index + 3}`,
      subject,
      status: 'completed',
    }))
    expect(plan(own, 'TaskList', {}, { tasks })).toEqual([['Look: completed', 'Test: completed']])
    expect(create(own, '5', 'Ship')).toEqual([['Look: completed', 'Test: completed', 'Ship: pending']])
  })

  test('count from one in a new list', () => {
    expect(create(talk('11111111-2222-4333-8444-555555555555'), '1', 'Look')).toEqual([['Look: pending']])
  })

  test('of a sub-agent are in the one list of the session', () => {
    const own = talk()
    create(own, '1', 'Outer')
    expect(create(own, '2', 'Inner', 'task')).toEqual([['Outer: pending', 'Inner: pending']])
    expect(plan(own, 'TaskUpdate', { taskId: '1' }, moved('1', 'completed'), 'task')).toEqual([
      ['Outer: completed', 'Inner: pending'],
    ])
  })
})

const todo = (content: string, status: string) => ({ content, status, activeForm: `${content}ing` })
const write = (own: Talk, todos: object[], parent?: string) => plan(own, 'TodoWrite', { todos }, {}, parent)

describe('a list that is written whole', () => {
  test('is emitted when it changes, even if an earlier process had one', () => {
    const own = talk('11111111-2222-4333-8444-555555555555')
    const first = [todo('Look', 'in_progress'), todo('Change', 'pending')]
    expect(write(own, first)).toEqual([['Look: in_progress', 'Change: pending']])
    expect(write(own, first)).toEqual([])
    expect(write(own, [todo('Change', 'completed')])).toEqual([['Change: completed']])
    expect(plan(own, 'TodoWrite', {}, {})).toEqual([])
    expect(write(own, [])).toEqual([[]])
  })

  test('is emitted only after its call has succeeded, and needs no structured result', () => {
    const own = talk()
    own.hear(call('w1', 'TodoWrite', { todos: [todo('Look', 'pending')] }))
    expect(own.only('plan.updated')).toEqual([])
    const content = [{ type: 'tool_result', tool_use_id: 'w1', content: 'no', is_error: true }]
    own.hear({ type: 'user', message: { role: 'user', content } })
    expect(own.only('plan.updated')).toEqual([])
    own.hear(call('w2', 'TodoWrite', { todos: [todo('Look', 'pending')] }), returned('w2', 'ok'))
    expect(own.only('plan.updated')).toMatchObject([{ items: [{ text: 'Look', status: 'pending' }] }])
  })

  test('by a sub-agent is its own', () => {
    const own = talk()
    write(own, [todo('Outer', 'pending')])
    expect(write(own, [todo('Inner', 'pending')], 'task')).toEqual([['Inner: pending']])
    expect(own.only('plan.updated').map(({ parent }) => parent)).toEqual([undefined, 'task'])
    expect(write(own, [todo('Outer', 'pending')])).toEqual([])
  })
})
