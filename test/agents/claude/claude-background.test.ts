import { expect, test } from 'vitest'
import {
  asks,
  assistant,
  call,
  half,
  halfText,
  init,
  openTalk,
  result,
  returned,
  stream,
  system,
  type Talk,
  used,
} from './claude-talk.ts'

const stepOf = (input: number, output: number) =>
  stream({ type: 'message_delta', usage: used(input, output) })
const says = (id: string, text: string) => assistant(id, { type: 'text', text })
const origin = { kind: 'task-notification' }
const lifecycle = (command_uuid: string, state: string) => ({
  type: 'command_lifecycle',
  command_uuid,
  state,
})

/** A talk whose second prompt goes out just as the agent goes on by itself. */
function crossed(promptId?: string): Talk {
  const talk = openTalk()
  talk.hear(result({ usage: used(10, 1), total_cost_usd: 0.1 }))
  talk.prompt('two', promptId)
  return talk
}

test.each([undefined, 'p2'])('background work before our prompt %j does not answer it', (promptId) => {
  const talk = crossed(promptId)
  const own = result({ result: 'bg ended', usage: used(20, 2), total_cost_usd: 0.3, origin })
  talk.hear(init(), says('m2', 'bg ended'), stepOf(20, 2), own)
  expect(talk.only('turn.completed')).toHaveLength(1)
  if (promptId !== undefined) talk.hear(lifecycle(promptId, 'queued'), lifecycle(promptId, 'started'))
  const ours = result({ result: 'answer two', usage: used(30, 3), total_cost_usd: 0.6 })
  talk.hear(init(), says('m3', 'answer two'), stepOf(30, 3), ours)
  expect(talk.only('turn.started')).toHaveLength(2)
  expect(talk.only('turn.completed').at(-1)).toMatchObject({ turn: 2, result: 'answer two' })
  const { usage } = talk.only('turn.completed').at(-1) ?? {}
  expect(usage).toMatchObject({ input: 50, output: 5, costUsd: expect.closeTo(0.5) })
})

test('a prompt that joined background work ends with it', () => {
  const talk = crossed('p2')
  talk.hear(init(), call('t1'), lifecycle('p2', 'queued'), lifecycle('p2', 'started'))
  talk.hear(says('m2', 'both'), result({ result: 'both', origin }))
  expect(talk.only('turn.completed').at(-1)).toMatchObject({ turn: 2, result: 'both' })
})

test.each([
  ['without an id, streamed', undefined, half('m2', halfText('both'))],
  ['without an id, whole', undefined, [says('m2', 'both')]],
  ['with an id that the agent says nothing of', 'p2', [says('m2', 'both')]],
])('a prompt %s has joined by the next message after a call', (_, promptId, next) => {
  const talk = crossed(promptId)
  talk.hear(init(), call('t1'), returned('t1', 'ok'), ...next, result({ result: 'both', origin }))
  expect(talk.only('turn.completed').at(-1)).toMatchObject({ turn: 2, outcome: 'completed', result: 'both' })
  expect(talk.only('turn.steered')).toEqual([])
})

test('a call of background work without a following message has not delivered our prompt', () => {
  const talk = crossed()
  talk.hear(
    init(),
    call('t1'),
    returned('t1', 'ok'),
    result({ subtype: 'error_max_turns', is_error: true, origin }),
  )
  talk.hear(init(), says('m2', 'bg ended'), result({ result: 'bg ended', origin }))
  expect(talk.only('turn.completed')).toHaveLength(1)
  talk.hear(init(), says('m3', 'answer'), result({ result: 'answer' }))
  expect(talk.only('turn.completed').at(-1)).toMatchObject({ turn: 2, result: 'answer' })
})

test.each(['policy', 'person'] as const)(
  'a denial by %s in background work does not affect our turn',
  (by) => {
    const talk = crossed('p2')
    talk.hear(init(), lifecycle('p2', 'queued'), call('t1'), asks('r1', 'Bash', {}, { tool_use_id: 't1' }))
    talk.answer('e1.r1', { decision: 'deny', by })
    const permission_denials = [{ tool_name: 'Bash', tool_use_id: 't1' }]
    talk.hear(returned('t1', 'no'), says('m2', 'own'), result({ result: 'own', origin, permission_denials }))
    talk.hear(lifecycle('p2', 'started'), init(), says('m3', 'answer'), result({ result: 'answer' }))
    expect(talk.only('tool.completed')).toMatchObject([{ status: 'denied', deniedBy: by }])
    expect(talk.only('turn.completed').at(-1)).toMatchObject({ outcome: 'completed', denials: 0 })
  },
)

test('a process that dies before it starts our prompt has not answered it', () => {
  const talk = crossed()
  talk.hear(init(), says('m2', 'bg ended'), result({ result: 'bg ended', usage: used(20, 2), origin }))
  talk.exit({ code: 0 })
  const end = talk.only('turn.completed').at(-1)
  expect(end).toMatchObject({ turn: 2, outcome: 'crashed', usage: { input: 20, output: 2 } })
  expect(end?.result).toBeUndefined()
})

const task = (tool_use_id: string, task_type: string, is_backgrounded: boolean) =>
  system('task_started', { tool_use_id, task_id: 'x', description: 'work', task_type, is_backgrounded })
const ended = (tool_use_id: string, status: string, more = {}) =>
  system('task_notification', { tool_use_id, task_id: 'x', status, summary: 'over', ...more })

test('a sub-agent that ends between turns closes its open items', () => {
  const talk = openTalk()
  talk.hear(
    call('tA', 'Agent', {}),
    task('tA', 'local_agent', true),
    returned('tA', 'launched', { tool_use_result: { status: 'async_launched' } }),
    result(),
    call('tB', 'Agent', {}, 'tA'),
    task('tB', 'local_agent', false),
    call('tC', 'Bash', { command: 'sleep 99' }, 'tB'),
    stream({ type: 'message_start', message: { id: 'C', model: 'opus' } }, { parent_tool_use_id: 'tA' }),
    stream(
      { type: 'content_block_start', index: 0, content_block: { type: 'text' } },
      { parent_tool_use_id: 'tA' },
    ),
    stream(
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hal' } },
      { parent_tool_use_id: 'tA' },
    ),
    asks('r1', 'Agent', {}, { tool_use_id: 'tB' }),
  )
  expect(talk.hear(ended('tA', 'stopped'))).toEqual([
    { type: 'text.completed', messageId: 'C:0', text: 'Hal', partial: true, parent: 'tA' },
    { type: 'request.withdrawn', requestId: 'e1.r1', reason: 'turn_ended' },
    expect.objectContaining({ type: 'tool.completed', toolId: 'tB', status: 'cancelled', settled: true }),
    expect.objectContaining({ type: 'tool.completed', toolId: 'tC', status: 'cancelled', settled: true }),
    { type: 'subagent.completed', id: 'tB', status: 'cancelled' },
    { type: 'subagent.completed', id: 'tA', status: 'cancelled', summary: 'over' },
  ])
  talk.prompt('next')
  expect(talk.hear(init(), result()).map(({ type }) => type)).toEqual(['turn.completed'])
})

test('a sub-agent that is moved to the background continues after its call', () => {
  const talk = openTalk()
  talk.hear(
    call('tA', 'Agent', {}),
    task('tA', 'local_agent', false),
    returned('tA', 'launched', { tool_use_result: { status: 'async_launched' } }),
    result(),
  )
  expect(talk.only('tool.completed')).toMatchObject([{ toolId: 'tA', status: 'success' }])
  expect(talk.only('subagent.completed')).toEqual([])
  const usage = { total_tokens: 5, tool_uses: 0, duration_ms: 3 }
  expect(talk.hear(ended('tA', 'completed', { usage }))).toEqual([
    {
      type: 'subagent.completed',
      id: 'tA',
      status: 'success',
      summary: 'over',
      durationMs: 3,
    },
  ])
})

test('a shell that is moved to the background is reported, with its end', () => {
  const talk = openTalk()
  const moved = { stdout: '', backgroundTaskId: 'x' }
  talk.hear(call('t1'), task('t1', 'local_bash', false))
  talk.hear(returned('t1', 'running', { tool_use_result: moved }), result(), ended('t1', 'failed'))
  expect(talk.only('notice.raised')).toEqual([
    {
      type: 'notice.raised',
      level: 'info',
      code: 'background_started',
      message: 'work',
      data: { toolId: 't1' },
    },
    {
      type: 'notice.raised',
      level: 'info',
      code: 'background_finished',
      message: 'over',
      data: { toolId: 't1', status: 'failed' },
    },
  ])
})

test('a denial between turns does not affect the next turn', () => {
  const talk = openTalk()
  talk.hear(call('tA', 'Agent', {}), task('tA', 'local_agent', true), returned('tA', 'launched'), result())
  talk.hear(call('tC', 'Bash', {}, 'tA'), asks('r1', 'Bash', {}, { tool_use_id: 'tC' }))
  talk.answer('e1.r1', { decision: 'deny', by: 'policy' })
  talk.hear(returned('tC', 'no', { parent_tool_use_id: 'tA' }))
  expect(talk.only('tool.completed').at(-1)).toMatchObject({ toolId: 'tC', status: 'denied' })
  talk.prompt('two')
  talk.hear(init(), says('m2', 'answer'), result())
  expect(talk.only('turn.completed').at(-1)).toMatchObject({ turn: 2, outcome: 'completed', denials: 0 })
})

test('a call that was denied before it started is denied, even if the turn has ended meanwhile', () => {
  const talk = openTalk()
  talk.hear(call('tA', 'Agent', {}), task('tA', 'local_agent', true), returned('tA', 'launched'))
  talk.hear(asks('r1', 'Bash', {}, { tool_use_id: 'tC' }))
  talk.answer('e1.r1', { decision: 'deny', by: 'policy' })
  talk.hear(result(), call('tC', 'Bash', {}, 'tA'), returned('tC', 'no', { parent_tool_use_id: 'tA' }))
  expect(talk.only('tool.completed').at(-1)).toMatchObject({
    toolId: 'tC',
    status: 'denied',
    deniedBy: 'policy',
  })
})
