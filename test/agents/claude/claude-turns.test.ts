import { expect, test } from 'vitest'
import {
  call,
  eventsOf,
  init,
  openTalk,
  result,
  returned,
  stream,
  system,
  Talk,
  used,
} from './claude-talk.ts'

const stepOf = (input: number, output: number) =>
  stream({ type: 'message_delta', usage: used(input, output) })
const task = (tool_use_id: string, more = {}) =>
  system('task_started', { tool_use_id, task_id: 'x', description: 'work', ...more })

test('a turn without a prompt was started by the agent', () => {
  const talk = openTalk()
  talk.hear(result())
  expect(talk.hear(init(), result())).toMatchObject([
    { type: 'turn.started', turn: 2, origin: 'agent' },
    { type: 'turn.completed', turn: 2 },
  ])
})

test('a sub-agent in the background outlives its turn, and not its process', () => {
  const talk = openTalk()
  talk.hear(
    call('t1', 'Agent', { description: 'work' }),
    task('t1', { task_type: 'local_agent', is_backgrounded: true }),
    returned('t1', 'started'),
    call('t2', 'Bash', {}, 't1'),
    result({ usage: used(1, 1) }),
  )
  expect(talk.only('subagent.completed')).toEqual([])
  talk.prompt()
  const emitted = talk.exit({ code: 1 })
  expect(emitted.map(({ type }) => type)).toEqual(['tool.completed', 'subagent.completed', 'turn.completed'])
  expect(emitted).toMatchObject([{ status: 'cancelled', parent: 't1' }, { status: 'cancelled' }, {}])
})

test('a process that exits between turns ends its background work', () => {
  const talk = openTalk()
  talk.hear(task('t1', { task_type: 'local_agent', is_backgrounded: true }), result())
  expect(talk.exit()).toEqual([{ type: 'subagent.completed', id: 't1', status: 'cancelled' }])
})

test('the usage of a turn comes right before its end, also when the process exits', () => {
  const talk = new Talk('oneshot')
  talk.conversation.begin(1)
  talk.hear(
    init(),
    call('t1', 'Agent', {}),
    task('t1', { task_type: 'local_agent', is_backgrounded: true }),
    stepOf(10, 2),
  )
  expect(talk.exit({ signal: 'SIGKILL' }).map(({ type }) => type)).toEqual([
    'tool.completed',
    'subagent.completed',
    'usage.reported',
    'turn.completed',
  ])
})

test('a shell in the foreground is progress of its call and ends with it', () => {
  const talk = openTalk()
  talk.hear(call('t1'))
  expect(talk.hear(task('t1', { task_type: 'local_bash' }))).toEqual([
    { type: 'tool.progressed', toolId: 't1', message: 'work' },
  ])
  const ended = system('task_notification', { tool_use_id: 't1', status: 'completed', summary: 'work' })
  expect(talk.hear(ended)).toEqual([])
})

test('an unknown sub-agent cannot progress', () => {
  expect(openTalk().hear(system('task_progress', { tool_use_id: 't1', description: 'x' }))).toEqual([])
})

test.each([
  ['completed', 'success'],
  ['failed', 'error'],
  ['stopped', 'cancelled'],
])('a sub-agent that %s ended with %s', (status, ended) => {
  const talk = openTalk()
  talk.hear(call('t1', 'Agent', {}), task('t1', { task_type: 'local_agent' }))
  expect(talk.hear(system('task_notification', { tool_use_id: 't1', status }))).toMatchObject([
    { type: 'subagent.completed', status: ended },
  ])
})

test.each([
  [{ exit_code: 0, outcome: 'success' }, 'success'],
  [{ exit_code: 2, outcome: 'error' }, 'blocked'],
  [{ exit_code: 1, outcome: 'error' }, 'error'],
  [{ outcome: 'cancelled' }, 'cancelled'],
])('a hook with %j ended with %s', (end, status) => {
  expect(openTalk().hear(system('hook_response', { hook_id: 'h', ...end }))).toMatchObject([{ status }])
})

test('without its own cost, a result of a resumed session has no cost before its second', () => {
  const talk = new Talk('live', { resume: 'abc' })
  const paid = (total_cost_usd: number) => result({ usage: used(10, 1), total_cost_usd })
  talk.prompt()
  talk.hear(paid(0.5))
  talk.prompt()
  talk.hear(paid(0.7))
  expect(talk.only('turn.completed').map(({ usage }) => usage?.costUsd)).toEqual([undefined, 0.2])
})

test('a result of zeros after another result counts the steps since that one', () => {
  const talk = new Talk('oneshot')
  talk.conversation.begin(1)
  const aborted = { is_error: true, terminal_reason: 'aborted_streaming', usage: used(0, 0) }
  talk.hear(init(), stepOf(100, 10), result({ usage: used(100, 10) }), stepOf(7, 1), result(aborted))
  const emitted = talk.exit()
  expect(eventsOf(emitted, 'usage.reported')).toEqual([
    {
      type: 'usage.reported',
      scope: 'turn',
      input: 107,
      output: 11,
      total: 118,
      partial: true,
      source: 'computed',
    },
  ])
  expect(eventsOf(emitted, 'turn.completed')).toMatchObject([{ outcome: 'interrupted' }])
})

test('a process that dies after its result has failed, and its later work counts', () => {
  const talk = new Talk('oneshot')
  talk.conversation.begin(1)
  talk.hear(init(), result({ usage: used(100, 10) }), init(), call('t1'), stepOf(7, 1))
  const emitted = talk.exit({ signal: 'SIGKILL' })
  expect(eventsOf(emitted, 'tool.completed')).toMatchObject([{ status: 'error', settled: true }])
  expect(eventsOf(emitted, 'turn.completed')).toMatchObject([
    { outcome: 'failed', result: 'done', usage: { input: 107, output: 11, total: 118 } },
  ])
})

test.each([
  ['error_max_budget_usd', 'max_budget'],
  ['error_max_turns', 'max_steps'],
  ['error_max_structured_output_retries', 'failed'],
])("%s ends a turn as %s with the agent's reason", (subtype, outcome) => {
  const talk = openTalk()
  talk.hear(result({ subtype, is_error: true, result: undefined, errors: ['too much', 'stopped'] }))
  expect(talk.only('turn.completed')).toMatchObject([{ outcome, error: { message: 'too much\nstopped' } }])
})

test('an answer that the token limit cut off is reported as such', () => {
  const talk = openTalk()
  talk.hear(result({ is_error: true, stop_reason: 'max_tokens', result: 'API Error: too long' }))
  expect(talk.only('turn.completed')).toMatchObject([{ error: { code: 'output_truncated' } }])
})

test('stderr explains a start that failed and a crash', () => {
  const died = new Talk('oneshot')
  died.conversation.begin(1)
  died.conversation.frame({ stream: 'stderr', text: 'Please run /login' })
  expect(eventsOf(died.exit({ code: 1 }), 'turn.completed')).toMatchObject([
    { outcome: 'failed', error: { code: 'authentication_failed', message: 'Please run /login' } },
  ])
  const crashed = new Talk('oneshot')
  crashed.conversation.begin(1)
  crashed.hear(init())
  crashed.conversation.frame({ stream: 'stderr', text: 'Please run /login' })
  expect(eventsOf(crashed.exit({ code: 1 }), 'turn.completed')).toMatchObject([
    {
      outcome: 'crashed',
      error: {
        code: 'authentication_failed',
        message: 'the agent ended without a result (exit code 1): Please run /login',
      },
    },
  ])
})
