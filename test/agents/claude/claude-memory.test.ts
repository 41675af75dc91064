import { expect, test } from 'vitest'
import { codec } from '../../../src/agents/claude/codec.ts'
import type { ClaudeState } from '../../../src/agents/claude/state.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import { DEFAULT_POLICY } from '../../../src/model/index.ts'
import { call, init, result, returned, system } from './claude-talk.ts'

const shell = (tool_use_id: string, is_backgrounded: boolean) =>
  system('task_started', { tool_use_id, description: 'work', task_type: 'local_bash', is_backgrounded })
const over = (tool_use_id: string) => system('task_notification', { tool_use_id, status: 'completed' })
const todo = (id: string, parent?: string) => call(id, 'TodoWrite', { todos: [{ content: 'Look' }] }, parent)
const aborted = result({ terminal_reason: 'aborted_tools' })

/** What is kept of a live process after these lines of its first turn. */
function after(...natives: object[]): ClaudeState {
  const options = { cwd: '/project', policy: DEFAULT_POLICY, options: {}, epoch: 1 }
  const state = codec.initial({ launch: 'live', ...options })
  codec.encode(state, { type: 'prompt', text: 'go' })
  for (const native of [init(), ...natives]) codec.decode(state, jsonFrame('stdout', JSON.stringify(native)))
  return state
}

test.each([
  ['that returned', [call('t1'), shell('t1', false), returned('t1', 'ok')]],
  ['that was told as over', [call('t1'), shell('t1', false), over('t1'), returned('t1', 'ok'), result()]],
  ['that was cut', [call('t1'), shell('t1', false), aborted]],
  [
    'that ended in the background',
    [call('t1'), shell('t1', true), returned('t1', 'ok'), result(), over('t1')],
  ],
])('a shell %s is forgotten', (_, natives) => {
  expect([...after(...natives).shells.keys()]).toEqual([])
})

test('a shell in the background is remembered until it ends', () => {
  const state = after(call('t1'), shell('t1', true), returned('t1', 'ok'), result())
  expect([...state.shells.keys()]).toEqual(['t1'])
})

test('a list whose call was cut off is forgotten', () => {
  expect([...after(todo('t1'), aborted).tasks.inputs.keys()]).toEqual([])
})

test('a list that a sub-agent in the background is writing is remembered', () => {
  const agent = system('task_started', {
    tool_use_id: 'tA',
    task_type: 'local_agent',
    is_backgrounded: true,
  })
  const state = after(call('tA', 'Agent', {}), agent, returned('tA', 'launched'), todo('t1', 'tA'), result())
  expect([...state.tasks.inputs.keys()]).toEqual(['t1'])
})
