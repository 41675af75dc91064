import { describe, expect, test } from 'vitest'
import type { Emitted, Start } from '../../../src/agents/agent.ts'
import { codec as run } from '../../../src/agents/opencode/run/codec.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import { DEFAULT_POLICY } from '../../../src/model/index.ts'

const START: Start = { launch: 'oneshot', cwd: '/project', policy: DEFAULT_POLICY, options: {}, epoch: 1 }

test('a message with a reused id is a new one, and so is one without an id', () => {
  const state = run.initial(START)
  const idOf = (part: object): unknown => {
    const { emitted } = run.decode(state, jsonFrame('stdout', JSON.stringify({ type: 'text', part })))
    return emitted.find((one: Emitted) => one.type === 'text.completed')?.messageId
  }
  const parts = [{ id: 'prt_1', text: 'a' }, { id: 'prt_1', text: 'b' }, { text: 'c' }, { text: 'd' }]
  expect(parts.map(idOf)).toEqual(['prt_1', 'prt_1~2', 'e1.p1', 'e1.p2'])
})

test('an infinite cost or time is not reported', () => {
  const state = run.initial(START)
  const saidOf = (line: string) => run.decode(state, jsonFrame('stdout', line)).emitted
  expect(saidOf('{"type":"step_finish","part":{"tokens":{"input":1},"cost":1e999}}')).toEqual([
    { type: 'usage.reported', scope: 'step', input: 1, total: 1, source: 'agent' },
  ])
  const time = '"time":{"start":1,"end":1e999}'
  const call = `{"type":"tool_use","part":{"tool":"bash","state":{"status":"completed",${time}}}}`
  expect(saidOf(call).at(-1)).not.toHaveProperty('durationMs')
})

describe('how a run ended', () => {
  const start = { type: 'step_start', sessionID: 'ses_1', part: {} }
  const finish = (reason: string) => ({
    type: 'step_finish',
    sessionID: 'ses_1',
    part: { reason, tokens: {} },
  })
  const call = (tool: string, callID: string, state: object) => ({
    type: 'tool_use',
    sessionID: 'ses_1',
    part: { tool, callID, state: { input: {}, ...state } },
  })
  const read = call('read', 'c_read', { status: 'completed', output: 'x', metadata: {} })
  const failed = (error: string) => call('bash', 'c_bash', { status: 'error', error })
  const rejected = failed('The user rejected permission to use this specific tool call.')
  const prevented = failed('The user has specified a rule which prevents you from using this tool call.')

  const saidOf = (lines: readonly object[]): Emitted[] => {
    const state = run.initial(START)
    const steps = lines.map((line) => run.decode(state, jsonFrame('stdout', JSON.stringify(line))))
    return [...steps, run.end(state, { code: 0, cause: 'exit' })].flatMap(({ emitted }) => emitted)
  }

  test.each([
    ['a no as the last call of its step', [start, read, rejected, finish('tool-calls')], 'success'],
    ['a no before a call beside it', [start, rejected, read, finish('tool-calls')], 'success'],
    ['a no that it got over', [start, rejected, finish('tool-calls'), start, finish('tool-calls')], 'none'],
    // Here the model goes on, so what comes no further was cut.
    ['a rule that prevents a call', [start, prevented, finish('tool-calls')], 'none'],
    ['a call without an answer', [start, read, finish('tool-calls')], 'none'],
  ])('%s', (_name, lines, evidence) => {
    expect(saidOf(lines).at(-1)).toMatchObject({ type: 'turn.verdict', evidence })
  })

  test('a call that is repeated because its output was pruned is not emitted again', () => {
    const time = { start: 1, end: 2, compacted: 3 }
    const pruned = call('read', 'c_read', { status: 'completed', output: 'x', metadata: {}, time })
    const types = saidOf([start, read, finish('stop'), pruned]).map(({ type }) => type)
    expect(types.filter((type) => type.startsWith('tool.'))).toEqual(['tool.started', 'tool.completed'])
  })

  test.each([
    ['Tool execution aborted', 'cancelled'],
    ['no such agent', 'error'],
  ])('a sub-agent whose call ended with "%s" is %s, as its call is', (error, status) => {
    const task = call('task', 'c_task', { status: 'error', error, metadata: { sessionId: 'ses_2' } })
    const ends = saidOf([start, task, finish('stop')]).flatMap((one) =>
      one.type === 'tool.completed' || one.type === 'subagent.completed' ? [one.status] : [],
    )
    expect(ends).toEqual([status, status])
  })
})
