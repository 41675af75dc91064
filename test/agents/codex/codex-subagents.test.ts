import { describe, expect, test } from 'vitest'
import { inTurn, item, notification, turnCompleted } from './codex-wire.ts'

const ofChild = (turnId: string) => ({ threadId: 'kid', turnId })

const begins = (id: string) => notification('turn/started', { ...ofChild(id), turn: { id } })
const ends = (id: string) =>
  notification('turn/completed', { ...ofChild(id), turn: { id, status: 'completed' } })
const usage = (turnId: string) => {
  const last = { totalTokens: 15, inputTokens: 10, outputTokens: 5 }
  return notification('thread/tokenUsage/updated', {
    ...ofChild(turnId),
    tokenUsage: { total: last, last },
  })
}
const says = (turnId: string, text: string) =>
  item('completed', { type: 'agentMessage', id: `m-${turnId}`, text }, ofChild(turnId))

/** A call of the conversation about its sub-agent, which finds it as the status says. */
function call(tool: string, status: string, message?: string) {
  const agentsStates = { kid: { status, message: message ?? null } }
  const about = { receiverThreadIds: ['kid'], prompt: 'Find the bug', agentsStates, status: 'completed' }
  return item('completed', { type: 'collabAgentToolCall', id: `${tool}-1`, tool, ...about })
}

/** A turn whose sub-agent was started and is at work. */
function withChild() {
  const codec = inTurn()
  codec.hear(call('spawnAgent', 'pendingInit'))
  codec.hear(begins('kt1'))
  const hear = (...frames: object[]) => frames.flatMap((frame) => [...codec.hear(frame).emitted])
  return { ...codec, hear }
}

const ofAgents = (emitted: readonly { type: string }[]) =>
  emitted.filter(({ type }) => type.startsWith('subagent.'))

describe('a sub-agent whose thread starts before its call names it', () => {
  const spawn = (id: string) =>
    item('started', { type: 'collabAgentToolCall', id, tool: 'spawnAgent', prompt: 'Find the bug\nnow' })

  test('belongs to the open call', () => {
    const codec = inTurn()
    codec.hear(spawn('spawnAgent-1'))
    expect(ofAgents(codec.hear(begins('kt1')).emitted)).toEqual([
      {
        type: 'subagent.started',
        id: 'kid',
        toolId: 'spawnAgent-1',
        label: 'Find the bug',
        prompt: 'Find the bug\nnow',
        background: true,
      },
    ])
    expect(ofAgents(codec.hear(call('spawnAgent', 'pendingInit')).emitted)).toEqual([])
  })

  test('belongs to no call when two are open', () => {
    const codec = inTurn()
    codec.hear(spawn('first'))
    codec.hear(spawn('second'))
    expect(ofAgents(codec.hear(begins('kt1')).emitted)).toEqual([
      { type: 'subagent.started', id: 'kid', label: 'sub-agent', background: true },
    ])
  })
})

describe('a sub-agent that has ended', () => {
  test('is not restarted by late frames', () => {
    const { hear } = withChild()
    expect(ofAgents(hear(call('wait', 'completed', 'Found it.')))).toEqual([
      { type: 'subagent.completed', id: 'kid', status: 'success', summary: 'Found it.' },
    ])
    const delta = notification('item/agentMessage/delta', { ...ofChild('kt1'), itemId: 'm', delta: 'x' })
    expect(hear(begins('kt1'), delta, says('kt1', 'Found it.'), ends('kt1'))).toEqual([])
    const plan = [{ step: 'a', status: 'pending' }]
    expect(hear(notification('turn/plan/updated', { ...ofChild('kt0'), plan }))).toEqual([])
  })

  test('is not restarted by the end of the activity that started it', () => {
    const activity = { type: 'subAgentActivity', id: 'a', kind: 'started', agentThreadId: 'kid' }
    const codec = inTurn()
    codec.hear(item('started', { ...activity, agentPath: '/root/finder' }))
    codec.hear(begins('kt1'))
    expect(ofAgents(codec.hear(ends('kt1')).emitted)).toHaveLength(1)
    expect(codec.hear(item('completed', { ...activity, agentPath: '/root/finder' })).emitted).toEqual([])
  })

  test('continues under its name when it starts another turn', () => {
    const { hear } = withChild()
    hear(says('kt1', 'first'), usage('kt1'), ends('kt1'))
    expect(hear(begins('kt2'))).toEqual([
      { type: 'subagent.started', id: 'kid', label: 'Find the bug', background: true },
    ])
    expect(hear(ends('kt1'))).toEqual([])
    expect(ofAgents(hear(ends('kt2')))).toEqual([
      { type: 'subagent.completed', id: 'kid', status: 'success' },
    ])
  })

  test.each([
    ['', ofChild('kt1')],
    [', even if it does not name its turn', { threadId: 'kid', turnId: null }],
  ])('works again when it opens a request%s, until its turn ends', (_name, place) => {
    const { hear } = withChild()
    hear(call('wait', 'completed'))
    const question = { ...notification('item/tool/requestUserInput', place), id: 0 }
    expect(hear(question)).toMatchObject([
      { type: 'subagent.started', id: 'kid', label: 'Find the bug' },
      { type: 'request.opened', parent: 'kid' },
    ])
    expect(hear(says('kt1', 'Found it.'), ends('kt1'))).toMatchObject([
      { type: 'text.completed', parent: 'kid' },
      { type: 'request.withdrawn', reason: 'turn_ended' },
      { type: 'subagent.completed', id: 'kid', status: 'success', summary: 'Found it.' },
    ])
    expect(hear(ends('kt1'))).toEqual([])
  })

  test('is not restarted by the turn in which it first opened a request', () => {
    const codec = inTurn()
    codec.hear({ ...notification('item/tool/requestUserInput', ofChild('kt1')), id: 0 })
    expect(ofAgents(codec.hear(call('wait', 'completed')).emitted)).toHaveLength(1)
    expect(codec.hear(begins('kt1')).emitted).toEqual([])
  })

  test('leaves neither its prompt nor its answer behind', () => {
    const codec = inTurn()
    const before = codec.size()
    const long = 'x'.repeat(10_000)
    const about = { receiverThreadIds: ['kid'], prompt: `Find the bug\n${long}`, status: 'completed' }
    codec.hear(item('completed', { type: 'collabAgentToolCall', id: 's', tool: 'spawnAgent', ...about }))
    for (const frame of [begins('kt1'), says('kt1', long), usage('kt1')]) codec.hear(frame)
    expect(codec.size() - before).toBeGreaterThan(long.length)
    codec.hear(ends('kt1'))
    expect(codec.size() - before).toBeLessThan(1000)
  })
})

test('a call that resumes a sub-agent reports its last turn, and ends nothing', () => {
  const { hear } = withChild()
  hear(says('kt1', 'first'), ends('kt1'), begins('kt2'))
  const emitted = hear(call('sendInput', 'completed', 'first'))
  expect(emitted.map(({ type }) => type)).toEqual(['tool.started', 'tool.completed'])
  expect(emitted[1]).not.toHaveProperty('output')
  expect(hear(says('kt2', 'second'), ends('kt2'))).toMatchObject([
    { type: 'text.completed', text: 'second' },
    { type: 'subagent.completed', summary: 'second' },
  ])
})

test('the frames of an unannounced thread have a sub-agent as their author', () => {
  const codec = inTurn()
  const child = { threadId: 'thread-2', turnId: 'turn-2' }
  const { emitted } = codec.hear(item('completed', { type: 'agentMessage', id: 'm', text: 'hi' }, child))
  expect(emitted).toMatchObject([
    { type: 'subagent.started', id: 'thread-2' },
    { type: 'text.completed', parent: 'thread-2' },
  ])
  codec.hear(item('started', { type: 'commandExecution', id: 'call-1', command: 'ls' }, child))
  const end = { ...child, turn: { id: 'turn-2', status: 'failed', durationMs: 5 } }
  expect(codec.hear(notification('turn/completed', end)).emitted).toMatchObject([
    { type: 'tool.completed', status: 'error', settled: true, parent: 'thread-2' },
    { type: 'subagent.completed', status: 'error', summary: 'hi', durationMs: 5 },
  ])
})

test('a sub-agent that outlives its turn ends with the process', () => {
  const codec = inTurn()
  const activity = { type: 'subAgentActivity', id: 'a', kind: 'started', agentThreadId: 'thread-2' }
  codec.hear(item('started', activity))
  codec.hear(turnCompleted())
  expect(codec.end()).toMatchObject([{ type: 'subagent.completed', id: 'thread-2', status: 'cancelled' }])
})
