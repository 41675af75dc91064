import { beforeEach, describe, expect, test } from 'vitest'
import type { AnswerCommand } from '../../../src/model/index.ts'
import { call, done, type Talk, working } from './opencode-talk.ts'

let talk: Talk
beforeEach(() => {
  talk = working()
})

describe('calls', () => {
  test('only the new part of a growing output is emitted', () => {
    talk.part(call('pending'))
    talk.part(call('running'))
    talk.part(call('running', { metadata: { output: 'a\n' } }))
    talk.part(call('running', { metadata: { output: 'a\nb\n' } }))
    talk.part(call('completed', { output: 'a\nb\n', metadata: { exit: 0 } }))
    talk.part(call('completed', { output: 'again', metadata: { exit: 0 } }))
    expect(talk.of('tool.started').length).toBe(1)
    expect(talk.of('tool.progressed').map(({ output }) => output)).toEqual(['a\n', 'b\n'])
    expect(talk.of('tool.completed')).toMatchObject([{ status: 'success', output: 'a\nb\n', exitCode: 0 }])
  })

  test('a call that is reported only at its end has a start too', () => {
    talk.part(call('error', { error: 'no such file' }))
    expect(talk.of('tool.started')).toMatchObject([{ toolId: 'call_1', input: { command: 'ls' } }])
    expect(talk.of('tool.completed')).toMatchObject([{ status: 'error', error: 'no such file' }])
  })

  test('an old call that is repeated because its output was pruned emits nothing', () => {
    const before = talk.events.length
    talk.part(call('completed', { output: '', time: { start: 1, end: 2, compacted: 3 } }), 'msg_old')
    talk.message('msg_a', 'assistant', done)
    talk.idle()
    expect(talk.events.slice(before).map(({ type }) => type)).toEqual(['turn.completed'])
  })

  test('a shell without an exit code was killed', () => {
    talk.part(call('completed', { output: 'took too long', metadata: { exit: null } }))
    expect(talk.of('tool.completed')).toMatchObject([{ status: 'error' }])
  })
})

describe('requests', () => {
  const rejected = call('error', { error: 'The user rejected permission to use this specific tool call.' })

  test('whose call does not start before the next heartbeat are opened as OpenCode describes them', () => {
    talk.ask('per_1', 'call_1')
    expect(talk.of('request.opened')).toMatchObject([
      {
        requestId: 'e1.per_1',
        kind: 'permission',
        blocking: true,
        toolId: 'call_1',
        tool: 'bash',
        title: 'ls',
        data: { permission: 'bash', patterns: ['ls'], always: ['ls *'], metadata: { command: 'ls' } },
        options: [
          { id: 'once', scope: 'once', default: true },
          { id: 'always', scope: 'session' },
          { id: 'reject', effect: 'deny' },
        ],
      },
    ])
  })

  test.each<[Omit<AnswerCommand, 'type' | 'requestId'>, object]>([
    [{ decision: 'allow' }, { reply: 'once' }],
    [{ decision: 'allow', scope: 'once' }, { reply: 'once' }],
    [{ decision: 'allow', scope: 'session' }, { reply: 'always' }],
    [{ decision: 'allow', scope: 'always' }, { reply: 'always' }],
    [{ decision: 'deny' }, { reply: 'reject' }],
    [
      { decision: 'deny', message: 'Use another way' },
      { reply: 'reject', message: 'Use another way' },
    ],
  ])('%o is answered with %o', (answer, body) => {
    talk.ask('per_1', 'call_1')
    expect(talk.answer({ type: 'answer', requestId: 'e1.per_1', ...answer }).writes).toEqual([
      { kind: 'http', method: 'POST', path: '/permission/per_1/reply', tag: 'answer', body },
    ])
    talk.sse('permission.replied', { sessionID: 'ses_1', requestID: 'per_1', reply: 'once' })
    expect(talk.of('request.withdrawn')).toEqual([])
  })

  test('a no that also stops the turn aborts it', () => {
    talk.ask('per_1', 'call_1')
    const answer = { type: 'answer', requestId: 'e1.per_1', decision: 'deny', interrupt: true } as const
    expect(talk.answer(answer).writes.map((write) => 'path' in write && write.path)).toEqual([
      '/permission/per_1/reply',
      '/session/ses_1/abort',
    ])
  })

  test.each<[AnswerCommand['by'], string, string]>([
    [undefined, 'person', 'completed'],
    ['policy', 'policy', 'denied'],
  ])('a denial by %s makes the call denied by %s and the turn %s', (by, deniedBy, outcome) => {
    talk.ask('per_1', 'call_1')
    talk.part(call('running'))
    talk.answer({ type: 'answer', requestId: 'e1.per_1', decision: 'deny', ...(by && { by }) })
    talk.sse('permission.replied', { sessionID: 'ses_1', requestID: 'per_1', reply: 'reject' })
    talk.part(rejected)
    talk.message('msg_a', 'assistant', done)
    talk.idle()
    expect(talk.of('tool.completed')).toMatchObject([{ status: 'denied', deniedBy }])
    expect(talk.of('turn.completed')).toMatchObject([{ outcome, denials: 1 }])
  })

  const deny = { type: 'answer', requestId: 'e1.per_1', decision: 'deny' } as const
  const end = () => {
    talk.message('msg_a', 'assistant', done)
    talk.idle()
  }

  test.each<[AnswerCommand['by'], string, string]>([
    [undefined, 'person', 'completed'],
    ['policy', 'policy', 'denied'],
  ])('a denial by %s of a call without further frames makes it denied by %s', (by, deniedBy, outcome) => {
    talk.part(call('running'))
    talk.ask('per_1', 'call_1')
    talk.answer({ ...deny, ...(by && { by }) })
    end()
    expect(talk.of('tool.completed')).toMatchObject([{ status: 'denied', deniedBy, settled: true }])
    expect(talk.of('turn.completed')).toMatchObject([{ outcome, denials: 1 }])
  })

  test('a denial by another client of a call without further frames makes it denied by a person', () => {
    talk.part(call('running'))
    talk.ask('per_1', 'call_1')
    talk.sse('permission.replied', { sessionID: 'ses_1', requestID: 'per_1', reply: 'reject' })
    end()
    expect(talk.of('tool.completed')).toMatchObject([{ status: 'denied', deniedBy: 'person' }])
    expect(talk.of('turn.completed')).toMatchObject([{ outcome: 'completed', denials: 1 }])
  })

  test('a denial of an ended call does not deny the next one with its id', () => {
    talk.part(call('running'))
    talk.ask('per_1', 'call_1')
    talk.part(call('completed', { output: '' }))
    talk.answer({ ...deny, by: 'policy' })
    talk.part({ ...call('running'), id: 'prt_2' })
    end()
    expect(talk.of('tool.completed').map(({ toolId, status }) => [toolId, status])).toEqual([
      ['call_1', 'success'],
      ['call_1~2', 'unknown'],
    ])
  })

  test('are about the call of their own session, where ids are used twice', () => {
    const use = (id: string, tool: string, state: object, of: [string, string]) =>
      talk.part({ id, type: 'tool', tool, callID: 'call_0', state: { input: {}, ...state } }, ...of)
    const ours: [string, string] = ['msg_a', 'ses_1']
    const theirs: [string, string] = ['msg_c', 'ses_2']
    use('prt_t', 'task', { status: 'running', metadata: { sessionId: 'ses_2' } }, ours)
    talk.message('msg_c', 'assistant', {}, 'ses_2')
    talk.ask('per_1', 'call_0', 'ses_2')
    talk.answer({ type: 'answer', requestId: 'e1.per_1', decision: 'deny', by: 'policy' })
    use('prt_1', 'bash', { status: 'error', error: 'The user rejected permission' }, theirs)
    // The next answer of the sub-agent counts from the beginning again.
    talk.ask('per_2', 'call_0', 'ses_2')
    talk.answer({ type: 'answer', requestId: 'e1.per_2', decision: 'deny' })
    use('prt_2', 'bash', { status: 'error', error: 'The user rejected permission' }, theirs)
    use('prt_t', 'task', { status: 'completed', output: '' }, ours)
    expect(talk.of('request.opened').map(({ toolId }) => toolId)).toEqual(['call_0~2', 'call_0~3'])
    expect(talk.of('tool.completed').map(({ toolId, deniedBy }) => [toolId, deniedBy])).toEqual([
      ['call_0~2', 'policy'],
      ['call_0~3', 'person'],
      ['call_0', undefined],
    ])
  })

  test('reserve the id of their call, even if it is reused in the meantime', () => {
    const task = { status: 'running', input: {}, metadata: { sessionId: 'ses_2' } }
    talk.part({ id: 'prt_t', type: 'tool', tool: 'task', callID: 'call_t', state: task })
    talk.message('msg_c', 'assistant', {}, 'ses_2')
    talk.ask('per_1', 'call_0', 'ses_2')
    talk.ask('per_2', 'call_0')
    const call0 = { ...call('running'), callID: 'call_0' }
    talk.part({ ...call0, id: 'prt_1' })
    talk.part({ ...call0, id: 'prt_2' }, 'msg_c', 'ses_2')
    expect(talk.of('request.opened').map(({ toolId }) => toolId)).toEqual(['call_0', 'call_0~2'])
    expect(talk.of('tool.started').map(({ toolId, parent }) => [toolId, parent])).toEqual([
      ['call_t', undefined],
      ['call_0~2', undefined],
      ['call_0', 'ses_2'],
    ])
  })

  test('an id that could change a path is not opened but kept whole', () => {
    talk.ask('../session', 'call_1')
    expect(talk.of('request.opened')).toEqual([])
    expect(talk.of('native.unmapped').length).toBe(1)
  })
})

describe('questions', () => {
  beforeEach(() => {
    const questions = [
      { question: 'A or B?', header: 'Pick', options: [{ label: 'A', description: 'a' }, { label: 'B' }] },
      { question: 'Which?', options: [], multiple: true, custom: false },
    ]
    const tool = { messageID: 'msg_a', callID: 'call_q' }
    talk.sse('question.asked', { id: 'que_1', sessionID: 'ses_1', questions, tool })
    talk.sse('server.heartbeat', {})
  })

  test('are shown unchanged', () => {
    expect(talk.of('request.opened')[0]?.questions).toEqual([
      {
        id: '0',
        header: 'Pick',
        text: 'A or B?',
        options: [{ label: 'A', description: 'a' }, { label: 'B' }],
        other: true,
      },
      { id: '1', text: 'Which?', options: [], multiple: true, other: false },
    ])
  })

  test('are answered by place', () => {
    const answers = { '1': ['x', 'y'] }
    const step = talk.answer({ type: 'answer', requestId: 'e1.que_1', decision: 'answered', answers })
    expect(step.writes).toMatchObject([
      { path: '/question/que_1/reply', body: { answers: [[], ['x', 'y']] } },
    ])
  })

  test('can be dismissed', () => {
    const step = talk.answer({ type: 'answer', requestId: 'e1.que_1', decision: 'deny' })
    expect(step.writes).toMatchObject([{ path: '/question/que_1/reject', body: {} }])
    talk.sse('question.rejected', { sessionID: 'ses_1', requestID: 'que_1' })
    expect(talk.of('request.withdrawn')).toEqual([])
  })

  test.each<[string, () => void]>([
    ['us', () => talk.answer({ type: 'answer', requestId: 'e1.que_1', decision: 'deny' })],
    ['somebody else', () => talk.sse('question.rejected', { sessionID: 'ses_1', requestID: 'que_1' })],
  ])('that are dismissed by %s make their call denied', (_who, dismiss) => {
    talk.part({ ...call('running'), tool: 'question', callID: 'call_q' })
    dismiss()
    talk.message('msg_a', 'assistant', done)
    talk.idle()
    expect(talk.of('tool.completed')).toMatchObject([{ status: 'denied', deniedBy: 'person' }])
  })

  test.each<Omit<AnswerCommand, 'type' | 'requestId'>>([
    { decision: 'answered' },
    { decision: 'answered', answers: { '0': [] } },
    { decision: 'allow' },
  ])('are not answered by %o', (answer) => {
    const step = talk.command({ type: 'answer', requestId: 'e1.que_1', ...answer })
    expect(step.refused?.code).toBe('invalid_request')
  })
})

describe('sub-agents', () => {
  const child = (id: string, parentID: string) => ({
    sessionID: id,
    info: { id, parentID, title: `job of ${id}`, agent: 'general' },
  })
  const task = (status: string) => ({
    id: 'prt_task',
    type: 'tool',
    tool: 'task',
    callID: 'call_task',
    state: { status, input: { prompt: 'Dig' }, output: '', metadata: { sessionId: 'ses_2' } },
  })

  test('start with the call that runs them and end when they are idle, once', () => {
    talk.sse('session.created', child('ses_2', 'ses_1'))
    talk.part(task('running'))
    talk.message('msg_c', 'assistant', done, 'ses_2')
    talk.part({ id: 'prt_c', type: 'text', text: 'Found', time: { start: 1, end: 2 } }, 'msg_c', 'ses_2')
    talk.idle('ses_2')
    talk.idle('ses_2')
    talk.part(task('completed'))
    expect(talk.of('subagent.started')).toMatchObject([
      { id: 'ses_2', toolId: 'call_task', label: 'job of ses_2', agentType: 'general', prompt: 'Dig' },
    ])
    expect(talk.of('text.completed')).toMatchObject([{ text: 'Found', parent: 'ses_2' }])
    expect(talk.of('subagent.completed')).toMatchObject([
      { id: 'ses_2', status: 'success', summary: 'Found' },
    ])
  })

  test('of sub-agents name the one above them', () => {
    talk.sse('session.created', child('ses_2', 'ses_1'))
    talk.sse('session.created', child('ses_3', 'ses_2'))
    talk.message('msg_c', 'assistant', {}, 'ses_3')
    talk.part({ ...call('running'), id: 'prt_c' }, 'msg_c', 'ses_3')
    expect(talk.of('subagent.started')).toMatchObject([{ id: 'ses_3', parent: 'ses_2' }])
    expect(talk.of('tool.started')).toMatchObject([{ parent: 'ses_3' }])
  })

  test('that are cut have used what they used', () => {
    talk.sse('session.created', child('ses_2', 'ses_1'))
    talk.message('msg_c', 'assistant', {}, 'ses_2')
    const tokens = { input: 10, output: 5 }
    talk.part({ id: 'prt_f', type: 'step-finish', reason: 'tool-calls', tokens }, 'msg_c', 'ses_2')
    talk.conversation.exit({ signal: 'SIGKILL' })
    expect(talk.of('usage.reported')).toMatchObject([
      { scope: 'subagent', subagentId: 'ses_2', input: 10, output: 5 },
      { scope: 'turn', input: 10, output: 5 },
    ])
    expect(talk.of('subagent.completed')).toMatchObject([{ id: 'ses_2', status: 'error' }])
  })

  test('that are sent to work again start again', () => {
    talk.sse('session.created', child('ses_2', 'ses_1'))
    for (const id of ['msg_c', 'msg_d']) {
      talk.message(id, 'assistant', done, 'ses_2')
      talk.part({ id: `prt_${id}`, type: 'text', text: id, time: { start: 1, end: 2 } }, id, 'ses_2')
      talk.idle('ses_2')
    }
    expect(talk.of('subagent.started').length).toBe(2)
    expect(talk.of('subagent.completed').map(({ summary }) => summary)).toEqual(['msg_c', 'msg_d'])
  })
})
