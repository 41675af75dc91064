import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AgentEvent } from '../../../src/dialects/unified/unified-event.ts'
import { unified } from '../../../src/dialects/unified.ts'
import type { Event } from '../../../src/model/index.ts'
import { SAMPLES } from '../../model/samples.ts'
import { entriesOf, projectAll } from '../entries.ts'
import { schema } from '../json-schema.ts'
import { disorder } from './unified-order.ts'
import { completed, read, say, started, turn, types } from './unified-say.ts'

const tool = { toolId: 't1', name: 'Bash', kind: 'execute' } as const

test('a session with a tool reads as the document shows it', () => {
  const entries = entriesOf(
    { ...started, cwd: '/workspace', policy: { approval: 'auto-all', sandbox: 'full-access' } } as Event,
    { type: 'turn.started', turn: 1, origin: 'prompt', prompt: 'list files' },
    { type: 'text.delta', messageId: 'm4:0', text: 'I will list files.' },
    { type: 'text.completed', messageId: 'm4:0', text: 'I will list files.' },
    { type: 'tool.started', ...tool, title: 'ls', input: { command: 'ls' } },
    { type: 'tool.completed', ...tool, status: 'success', output: 'README.md\na.txt' },
    completed({
      usage: {
        input: 200,
        output: 50,
        cacheRead: 40,
        cacheWrite: 20,
        total: 310,
        reasoning: 0,
        costUsd: 0.1,
      },
      durationMs: 1439,
    }),
  )
  const envelope = (id: string, ms: number) =>
    `"id":"${id}","sessionId":"3f0f4a8e-5f0a-4f57-9d5e-0c6a4d3b2a11","timestamp":"1970-01-01T00:00:01.00${ms}Z"`
  expect(projectAll(unified, entries).map((message) => JSON.stringify(message))).toEqual([
    `{${envelope('evt_1', 0)},"type":"sessionStarted","agentType":"claude","config":{"agentType":"claude","workingDirectory":"/workspace","approvalMode":"autoAll","sandboxMode":"fullAccess"}}`,
    `{${envelope('evt_2', 1)},"type":"turnStarted","turnNumber":1,"prompt":"list files"}`,
    `{${envelope('evt_3', 2)},"type":"textChunk","content":"I will list files.","isComplete":false}`,
    `{${envelope('evt_4', 3)},"type":"textChunk","content":"","isComplete":true}`,
    `{${envelope('evt_5', 4)},"type":"toolStarted","toolId":"t1","toolName":"Bash","arguments":{"command":"ls"}}`,
    `{${envelope('evt_6', 5)},"type":"toolCompleted","toolId":"t1","success":true,"result":"README.md\\na.txt"}`,
    `{${envelope('evt_7_1', 6)},"type":"turnCompleted","turnNumber":1,"usage":{"inputTokens":260,"outputTokens":50,"cachedTokens":40,"reasoningTokens":0,"totalTokens":310},"durationMs":1439}`,
    `{${envelope('evt_7_2', 6)},"type":"sessionEnded","reason":"completed"}`,
  ])
})

describe('the configuration', () => {
  const configOf = (more: Partial<Extract<Event, { type: 'session.started' }>>) =>
    read({ ...SAMPLES['session.started'], ...more })[0]?.config

  test.each([
    ['ask', 'none', 'ask', 'none'],
    ['ask-dangerous', 'read-only', 'askDangerous', 'readOnly'],
    ['auto-edit', 'workspace-write', 'autoEdit', 'workspaceWrite'],
    ['auto-all', 'full-access', 'autoAll', 'fullAccess'],
  ] as const)('%s with %s is %s with %s', (approval, sandbox, approvalMode, sandboxMode) => {
    expect(configOf({ policy: { approval, sandbox } })).toMatchObject({ approvalMode, sandboxMode })
  })

  test('has the model, the tools and the steps where they are given', () => {
    const policy = {
      ...SAMPLES['session.started'].policy,
      tools: { preapproved: ['Read'], denied: ['Bash'] },
      maxSteps: 7,
    }
    expect(configOf({ model: 'opus', policy })).toEqual({
      agentType: 'echo',
      workingDirectory: '/project',
      model: 'opus',
      approvalMode: 'ask',
      sandboxMode: 'none',
      allowedTools: ['Read'],
      blockedTools: ['Bash'],
      maxTurns: 7,
    })
  })
})

describe('text', () => {
  test('is sent once, in pieces or whole, and a dropped half is not repeated', () => {
    const messages = say(
      { type: 'text.completed', messageId: 'm1', text: 'Whole.' },
      { type: 'text.delta', messageId: 'm2', text: 'Hello fr' },
      { type: 'message.discarded', messageId: 'm2', reason: 'stream_broken' },
      { type: 'text.delta', messageId: 'm3', text: 'Hello' },
      { type: 'text.completed', messageId: 'm3', text: 'Hello from me.' },
    )
    expect(messages).toEqual([
      { type: 'textChunk', content: 'Whole.', isComplete: true },
      { type: 'textChunk', content: 'Hello fr', isComplete: false },
      { type: 'textChunk', content: 'om me.', isComplete: true },
    ])
  })

  test('is complete once, also when its repeat or its whole brings nothing new', () => {
    const last = { type: 'textChunk', content: '', isComplete: true }
    const dropped: Event[] = [
      { type: 'text.delta', messageId: 'm1', text: 'Hello' },
      { type: 'message.discarded', messageId: 'm1', reason: 'stream_broken' },
    ]
    const repeat: Event = { type: 'text.completed', messageId: 'm2', text: 'Hello' }
    expect(say(...dropped, repeat).slice(1)).toEqual([last])
    const cut: Event = { type: 'text.completed', messageId: 'm2', text: 'Hel', partial: true }
    expect(say(...dropped, cut).slice(1)).toEqual([last])
    const trimmed: Event[] = [
      { type: 'text.delta', messageId: 'm1', text: 'Hello\n' },
      { type: 'text.completed', messageId: 'm1', text: 'Hello' },
    ]
    expect(say(...trimmed).slice(1)).toEqual([last])
  })

  test('without text is complete too', () => {
    const messages = say({ type: 'text.completed', messageId: 'm1', text: '' })
    expect(messages).toEqual([{ type: 'textChunk', content: '', isComplete: true }])
  })

  test('of a sub-agent, or reasoning, is no textChunk', () => {
    const messages = say(
      { type: 'text.delta', messageId: 'c1', text: 'child', parent: 's1' },
      { type: 'text.completed', messageId: 'c1', text: 'child', parent: 's1' },
      { type: 'thinking.delta', messageId: 'm2', text: 'hm' },
      { type: 'thinking.completed', messageId: 'm2', text: 'hm' },
    )
    expect(types(messages)).not.toContain('textChunk')
  })

  test('that a turn dropped for good does not swallow the text of the next turn', () => {
    const messages = say(
      { type: 'text.delta', messageId: 'm1', text: 'Hello' },
      { type: 'message.discarded', messageId: 'm1', reason: 'refused' },
      completed({ outcome: 'refused' }),
      turn(2),
      { type: 'text.completed', messageId: 'm2', text: 'Hello again' },
    )
    expect(messages.at(-1)).toEqual({ type: 'textChunk', content: 'Hello again', isComplete: true })
  })
})

describe('a tool', () => {
  const begin: Event = { type: 'tool.started', ...tool }
  const argumentsOf = (input: unknown) => say({ ...begin, input } as Event)[0]?.arguments

  test('has an object as its arguments, for any input', () => {
    expect(argumentsOf({ a: 1 })).toEqual({ a: 1 })
    expect(argumentsOf(undefined)).toEqual({})
    expect(argumentsOf(null)).toEqual({ value: null })
    expect(argumentsOf(['a'])).toEqual({ value: ['a'] })
    expect(argumentsOf('ls')).toEqual({ value: 'ls' })
  })

  test('reports its progress if there is any', () => {
    const [, ...messages] = say(
      begin,
      { type: 'tool.progressed', toolId: 't1', elapsedMs: 5 },
      { type: 'tool.progressed', toolId: 't1', output: 'half', progress: 0.5 },
      { type: 'tool.progressed', toolId: 't1', progress: 1 },
    )
    expect(messages).toEqual([
      { type: 'toolProgress', toolId: 't1', output: 'half', progress: 0.5 },
      { type: 'toolProgress', toolId: 't1', progress: 1 },
    ])
  })

  test.each([
    [{ status: 'error', output: 'boom', error: 'no such file' }, 'no such file'],
    [{ status: 'error', output: 'boom', exitCode: 2 }, 'it exited with 2'],
    [{ status: 'error', output: 'boom' }, 'boom'],
    [{ status: 'error' }, 'it failed'],
    [{ status: 'denied' }, 'the call was denied'],
    [{ status: 'cancelled' }, 'the call was cancelled'],
  ] as const)('that did not succeed (%o) failed first, and completed without success', (end, error) => {
    const result = 'output' in end && { result: end.output }
    expect(say(begin, { type: 'tool.completed', ...tool, ...end }).slice(1)).toEqual([
      { type: 'toolFailed', toolId: 't1', error },
      { type: 'toolCompleted', toolId: 't1', success: false, ...result, error, status: end.status },
    ])
  })

  test('with an unknown end is no failure', () => {
    expect(say(begin, { type: 'tool.completed', ...tool, status: 'unknown' }).slice(1)).toEqual([
      {
        type: 'toolCompleted',
        toolId: 't1',
        success: true,
        status: 'unknown',
      },
    ])
  })

  test.each([
    [{ output: 'text', data: { files: 2 } }, { result: 'text' }],
    [{ data: { files: 2 } }, { result: { files: 2 } }],
    [{ blob: { id: 'b1', bytes: 20_000_000 } }, { result: '[20000000 bytes in blob b1]' }],
    [{}, {}],
  ])('that succeeded with %o says %o', (end, result) => {
    expect(say(begin, { type: 'tool.completed', ...tool, status: 'success', ...end })[1]).toEqual({
      type: 'toolCompleted',
      toolId: 't1',
      success: true,
      ...result,
    })
  })

  test('of a sub-agent is shown, and one that was never shown has no end', () => {
    expect(types(say({ ...begin, parent: 's1' } as Event))).toEqual(['toolStarted'])
    expect(say(SAMPLES['tool.progressed'], SAMPLES['tool.completed'])).toEqual([])
  })
})

describe('a file', () => {
  const changed = { type: 'file.changed', path: 'b.ts' } as const

  test.each(['created', 'modified', 'deleted'] as const)('that was %s is one change', (change) => {
    const facts = { diff: '@@', before: 'old', after: 'new' }
    expect(say({ ...changed, change, ...facts })).toEqual([
      { type: 'fileChanged', filePath: 'b.ts', changeType: change, ...facts },
    ])
  })

  test('that was renamed is gone under its old name and there under the new one', () => {
    const facts = { diff: '@@', before: 'old', after: 'new' }
    expect(say({ ...changed, change: 'renamed', from: 'a.ts', ...facts })).toEqual([
      { type: 'fileChanged', filePath: 'a.ts', changeType: 'deleted', before: 'old' },
      { type: 'fileChanged', filePath: 'b.ts', changeType: 'created', diff: '@@', after: 'new' },
    ])
    expect(say({ ...changed, change: 'renamed' })).toEqual([
      { type: 'fileChanged', filePath: 'b.ts', changeType: 'created' },
    ])
  })
})

describe('an error notice', () => {
  const notice = (level: 'error' | 'warning', data?: unknown): Event => ({
    type: 'notice.raised',
    level,
    code: 'agent_error',
    message: 'slow',
    data,
  })
  const delta: Event = { type: 'text.delta', messageId: 'm1', text: 'more' }

  test('is an error once the agent continues, a warning is none', () => {
    expect(types(say(notice('warning'), delta))).toEqual(['noticeRaised', 'textChunk'])
    expect(say(notice('error'), delta)[0]).toEqual({ type: 'error', message: 'slow', code: 'agentError' })
    expect(say(notice('error', { status: 529 }), delta)[0]?.nativeError).toBe('{"status":529}')
    expect(say(notice('error', 'as it was'), delta)[0]?.nativeError).toBe('as it was')
  })

  test('is not repeated by the failure of its turn', () => {
    const failed = (message: string) =>
      completed({ outcome: 'failed', error: { code: 'authentication_failed', message } })
    expect(types(say(notice('error'), failed('Internal error: slow')))).toEqual([
      'turnFailed',
      'sessionEnded',
    ])
    expect(types(say(notice('error'), failed('no key')))).toEqual(['error', 'turnFailed', 'sessionEnded'])
    expect(types(say(notice('error'), completed()))).toEqual(['error', 'turnCompleted', 'sessionEnded'])
  })

  test('waits for the end of its own turn, not of a dropped prompt', () => {
    const dropped = completed({ turn: 2, outcome: 'interrupted' })
    const error = { code: 'unknown', message: 'slow' } as const
    expect(types(say(notice('error'), dropped, completed({ outcome: 'failed', error })))).not.toContain(
      'error',
    )
  })

  test('does not pile up', () => {
    const many = Array.from({ length: 40 }, () => notice('error'))
    expect(say(...many).length).toBeGreaterThan(20)
  })
})

test('for any log, every message is valid, inside a session, and has a unique id', () => {
  const widened = schema('unified-event')
  const event = fc.constantFrom(...Object.values(SAMPLES), turn(2), completed({ turn: 2 }))
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const messages = AgentEvent.array().parse(projectAll(unified, entriesOf(started, ...events)))
      expect(messages.map(widened).filter(Boolean)).toEqual([])
      expect(disorder(messages).filter((what) => / a session$/.test(what))).toEqual([])
      expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
    }),
  )
})
