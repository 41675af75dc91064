import { expect, test } from 'vitest'
import type { Said, Start } from '../../src/agents/agent.ts'
import { codec as run } from '../../src/agents/opencode/run/codec.ts'
import { jsonFrame } from '../../src/framing/frame.ts'
import { DEFAULT_POLICY } from '../../src/model/index.ts'

const START: Start = { launch: 'oneshot', cwd: '/project', policy: DEFAULT_POLICY, options: {}, epoch: 1 }

test('a message under an id that was used is one of its own, and so is one without an id', () => {
  const state = run.initial(START)
  const idOf = (part: object): unknown => {
    const { said } = run.decode(state, jsonFrame('stdout', JSON.stringify({ type: 'text', part })))
    return said.find((one: Said) => one.type === 'text.completed')?.messageId
  }
  const parts = [{ id: 'prt_1', text: 'a' }, { id: 'prt_1', text: 'b' }, { text: 'c' }, { text: 'd' }]
  expect(parts.map(idOf)).toEqual(['prt_1', 'prt_1~2', 'e1.p1', 'e1.p2'])
})

test('a cost and a time beyond all numbers are not told', () => {
  const state = run.initial(START)
  const saidOf = (line: string) => run.decode(state, jsonFrame('stdout', line)).said
  expect(saidOf('{"type":"step_finish","part":{"tokens":{"input":1},"cost":1e999}}')).toEqual([
    { type: 'usage.reported', scope: 'step', input: 1, total: 1, source: 'agent' },
  ])
  const time = '"time":{"start":1,"end":1e999}'
  const call = `{"type":"tool_use","part":{"tool":"bash","state":{"status":"completed",${time}}}}`
  expect(saidOf(call).at(-1)).not.toHaveProperty('durationMs')
})
