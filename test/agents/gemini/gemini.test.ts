import { describe, expect, test } from 'vitest'
import { codec } from '../../../src/agents/gemini/codec.ts'
import { jsonFrame } from '../../../src/framing/frame.ts'
import type { Command, Policy } from '../../../src/model/index.ts'
import { decodeFixture, type Fixture, fixtures } from '../fixtures.ts'
import { Native } from '../native/gemini.ts'
import { emitted, startOf } from './gemini-talk.ts'

const recordings = fixtures.filter(({ program }) => program === 'gemini')

function recording(scenario: string): Fixture {
  const found = recordings.find((fixture) => fixture.scenario === scenario)
  if (!found) throw new Error(`no recording of ${scenario}`)
  return found
}

const eventsOf = (scenario: string) => decodeFixture(recording(scenario)).entries.map(({ event }) => event)

function endOf(scenario: string) {
  const end = eventsOf(scenario).at(-1)
  if (end?.type !== 'turn.completed') throw new Error(`${scenario} has no end`)
  return end
}

describe('model calls', () => {
  const use = (tool_id: string) => ({ type: 'tool_use', tool_name: 'glob', tool_id, parameters: {} })
  const back = (tool_id: string) => ({ type: 'tool_result', tool_id, status: 'success' })
  const lines = [use('a'), use('b'), back('a'), back('b'), use('c'), back('c')]

  function steps(policy: Partial<Policy>) {
    const state = codec.initial(startOf(policy))
    const frames = lines.map((line) => jsonFrame('stdout', JSON.stringify(line)))
    const told = frames.map((frame) => codec.decode(state, frame).emitted)
    return told.map((all) => all.filter((one) => one.type === 'usage.reported').length)
  }

  test('are reported one by one where they must be counted, and tools of one call count once', () => {
    expect(steps({ maxSteps: 3 })).toEqual([0, 0, 1, 0, 0, 1])
    expect(steps({})).toEqual([0, 0, 0, 0, 0, 0])
  })
})

test('a command that Gemini refused to run is an error, although Gemini reports a success', () => {
  const parameters = { command: 'echo $(date)' }
  const output = 'Blocked: command substitution detected in shell command.'
  const told = emitted([
    { type: 'tool_use', tool_name: 'run_shell_command', tool_id: 'a', parameters },
    { type: 'tool_result', tool_id: 'a', status: 'success', output },
  ])
  expect(told.find(({ type }) => type === 'tool.completed')).toMatchObject({ status: 'error', output })
})

describe('a file', () => {
  const written = (file_path: string, id: string, content: string) => [
    { type: 'tool_use', tool_name: 'write_file', tool_id: id, parameters: { file_path, content } },
    { type: 'tool_result', tool_id: id, status: 'success' },
  ]

  test('a file that is written for the first time may have been created, and is modified after that', () => {
    const lines = [...written('/project/a', 'w1', 'one'), ...written('/project/a', 'w2', 'two')]
    const first = { change: 'created', changeReported: false, after: 'one', toolId: 'w1' }
    expect(emitted(lines).filter(({ type }) => type === 'file.changed')).toEqual([
      { type: 'file.changed', path: '/project/a', ...first },
      { type: 'file.changed', path: '/project/a', change: 'modified', after: 'two', toolId: 'w2' },
    ])
  })

  test('a file that was read before it is written is modified', () => {
    const read = [
      { type: 'tool_use', tool_name: 'read_file', tool_id: 'r', parameters: { file_path: '/project/a' } },
      { type: 'tool_result', tool_id: 'r', status: 'success', output: '' },
    ]
    const [change] = emitted([...read, ...written('/project/a', 'w1', 'one')]).filter(
      ({ type }) => type === 'file.changed',
    )
    expect(change).toMatchObject({ change: 'modified' })
  })

  const replaced = (status: string, old_string: string) =>
    emitted([
      {
        type: 'tool_use',
        tool_name: 'replace',
        tool_id: 'r1',
        parameters: { file_path: '/project/a', old_string, new_string: 'b' },
      },
      { type: 'tool_result', tool_id: 'r1', status },
    ]).filter(({ type }) => type === 'file.changed')

  test('that a call changed is reported when the call succeeded', () => {
    const told = { type: 'file.changed', path: '/project/a', toolId: 'r1' }
    expect(replaced('success', 'a')).toEqual([{ ...told, change: 'modified' }])
    expect(replaced('success', '')).toEqual([{ ...told, change: 'created' }])
    expect(replaced('error', 'a')).toEqual([])
  })

  test('that the recording writes and then edits is created, then modified', () => {
    const paths = eventsOf('file_edit').flatMap((event) =>
      event.type === 'file.changed' ? [[event.path, event.change]] : [],
    )
    expect(paths).toEqual([
      ['/workspace/hello.txt', 'created'],
      ['/workspace/hello.txt', 'modified'],
    ])
  })
})

describe('the recordings', () => {
  test('there are as many as were taken', () => {
    expect(recordings.length).toBe(64)
  })

  test.each(recordings)('$scenario has the shape that its schema describes', ({ lines }) => {
    for (const line of lines) {
      if (line.startsWith('{')) Native.parse(JSON.parse(line))
    }
  })

  test.each([
    ['err400', 'failed', 'invalid_request'],
    ['err401', 'failed', 'authentication_failed'],
    ['err403', 'failed', 'authentication_failed'],
    ['err404', 'failed', 'invalid_request'],
    ['err429_daily', 'failed', 'quota_exceeded'],
    ['drop', 'failed', 'connection_failed'],
    ['malformed', 'failed', 'connection_failed'],
    ['no_auth', 'failed', 'authentication_failed'],
    ['resume_4_bad_uuid', 'failed', 'session_not_found'],
    ['session_id_again', 'failed', 'conflict'],
    ['untrusted_workspace', 'failed', 'agent_not_ready'],
    ['sandbox_no_docker', 'failed', 'agent_not_ready'],
    ['bad_approval', 'failed', 'unsupported_option'],
    ['max_turns', 'max_steps', 'unknown'],
    ['safety', 'refused', 'invalid_request'],
    ['raw_shell_default', 'denied', 'permission_denied'],
    ['plan_write', 'denied', 'permission_denied'],
    ['sigterm_norelaunch_stream', 'crashed', 'protocol_error'],
    ['sigint_group_tool', 'crashed', 'protocol_error'],
    ['sigkill_tool', 'crashed', 'protocol_error'],
    ['text_format', 'crashed', 'protocol_error'],
  ])('%s ends as %s with %s', (scenario, outcome, code) => {
    const end = endOf(scenario)
    expect([end.outcome, end.error?.code]).toEqual([outcome, code])
  })

  test('a signal ends a run with exit code 0, and that is not success', () => {
    expect(recording('sigterm_norelaunch_stream').exit.code).toBe(0)
    const cut = eventsOf('sigterm_norelaunch_stream').find(({ type }) => type === 'text.completed')
    expect(cut).toMatchObject({ text: 'word0 word1 word2 ', partial: true })
  })

  test('an unknown tool is a mistake and not a refusal', () => {
    const ended = eventsOf('unknown_tool').find(({ type }) => type === 'tool.completed')
    expect(ended).toMatchObject({ status: 'error', data: { type: 'tool_not_registered' } })
    expect(endOf('unknown_tool').outcome).toBe('completed')
  })

  test('retries on stderr become limits, each once and with its delay', () => {
    const limits = eventsOf('err429').filter(({ type }) => type === 'limit.reported')
    expect(limits.map((limit) => ('delayMs' in limit ? limit.delayMs : 0))).toEqual([
      5161, 11740, 23916, 33109, 33577, 30357,
    ])
    const [limit] = eventsOf('err500_once').filter(({ type }) => type === 'limit.reported')
    expect(limit).toMatchObject({ kind: 'retry', attempt: 1, status: 500 })
  })

  test('a loop that was stopped is a notice', () => {
    expect(eventsOf('bigtext')).toContainEqual(
      expect.objectContaining({ type: 'notice.raised', code: 'loop_detected' }),
    )
  })

  test('a list of things to do is a plan as soon as it is recorded', () => {
    const plans = eventsOf('todo').filter(({ type }) => type === 'plan.updated')
    expect(plans.at(-1)).toEqual({
      type: 'plan.updated',
      items: [
        { text: 'inspect', status: 'completed' },
        { text: 'implement', status: 'in_progress' },
        { text: 'test', status: 'pending' },
      ],
    })
  })

  test('a sub-agent shows as its call and as itself', () => {
    const types = eventsOf('subagent').map(({ type }) => type)
    expect(types.filter((type) => type.startsWith('subagent'))).toEqual([
      'subagent.started',
      'subagent.completed',
    ])
  })

  test('a megabyte of output on one line stays whole', () => {
    const ended = eventsOf('bigout').find((event) => event.type === 'tool.completed')
    expect(ended?.output?.length).toBeGreaterThan(500_000)
  })
})

describe('calls under one id', () => {
  const call = { type: 'tool_use', tool_name: 'glob', tool_id: 'twice', parameters: {} }
  const result = { type: 'tool_result', tool_id: 'twice', status: 'success', output: 'one' }
  const success = { type: 'result', status: 'success' }

  test('one result for two calls leaves the other as unknown', () => {
    const ends = emitted([call, call, result, success]).filter((event) => event.type === 'tool.completed')
    expect(ends.map(({ toolId, status }) => [toolId, status])).toEqual([
      ['twice', 'success'],
      ['twice#1', 'unknown'],
    ])
  })

  test('two results for two calls close both', () => {
    const ends = emitted([call, call, result, result, success]).filter(
      (event) => event.type === 'tool.completed',
    )
    expect(ends.map(({ status }) => status)).toEqual(['success', 'success'])
  })

  test('a reused id after its end is another call, any number of times', () => {
    const events = emitted([call, result, call, result, call, result, success])
    const told = events.flatMap((event) =>
      event.type === 'tool.started' || event.type === 'tool.completed' ? [[event.type, event.toolId]] : [],
    )
    expect(told).toEqual(
      ['twice', 'twice~2', 'twice~3'].flatMap((id) => [
        ['tool.started', id],
        ['tool.completed', id],
      ]),
    )
  })

  test('with a reused id are distinguished as well', () => {
    const ends = emitted([call, result, call, call, result, result, success]).filter(
      (event) => event.type === 'tool.completed',
    )
    expect(ends.map(({ toolId, status }) => [toolId, status])).toEqual([
      ['twice', 'success'],
      ['twice~2', 'success'],
      ['twice~2#1', 'success'],
    ])
  })

  test('a result for an unknown call is kept whole', () => {
    const state = codec.initial(startOf())
    expect(codec.decode(state, jsonFrame('stdout', JSON.stringify(result))).verdict).toBe('unmapped')
  })
})

describe('commands', () => {
  test('the prompt goes in by stdin, which is then closed', () => {
    const state = codec.initial(startOf())
    expect(codec.encode(state, { type: 'prompt', text: '--yolo\n@/etc/passwd' }).writes).toEqual([
      { kind: 'text', text: '--yolo\n@/etc/passwd' },
      { kind: 'end' },
    ])
  })

  test.each<Command>([
    { type: 'steer', text: 'x' },
    { type: 'answer', requestId: 'r', decision: 'allow' },
    { type: 'set_model', model: 'm' },
    { type: 'set_policy', mode: 'yolo' },
    { type: 'prompt', text: 'x', images: [{ mimeType: 'image/png', data: 'AA==' }] },
  ])('$type is refused', (command) => {
    expect(codec.encode(codec.initial(startOf()), command).refused?.code).toBe('unsupported_option')
  })

  test.each(['open', 'interrupt', 'close'] as const)('%s sends nothing to the agent', (type) => {
    expect(codec.encode(codec.initial(startOf()), { type })).toMatchObject({ writes: [], emitted: [] })
  })
})
