import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chunk, eventsIn, eventsOf, result, Talk, update } from './acp-talk.ts'

describe('text', () => {
  test.each(['acp-claude/drop', 'acp-claude/max_tokens', 'acp-codex2/drop', 'acp-copilot/drop'])(
    '%s: a retry discards the repeated text, which is emitted once',
    (name) => {
      const events = eventsIn(name)
      const discarded = eventsOf(events, 'message.discarded').map(({ messageId }) => messageId)
      const whole = eventsOf(events, 'text.completed')
      expect(discarded.length).toBeGreaterThan(0)
      expect(whole).toHaveLength(1)
      expect(discarded).not.toContain(whole[0]?.messageId)
    },
  )

  test('a message that starts like the previous one replaces it, for any chunking', () => {
    const pieces = fc.array(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(pieces, pieces, fc.nat(), (shown, rest, at) => {
        const talk = new Talk().begin()
        talk.hear(...shown.map((piece) => chunk(piece, 'a')))
        const again = shown.join('') + rest.join('')
        const cut = at % again.length
        talk.hear(chunk(again.slice(0, cut), 'b'), chunk(again.slice(cut), 'b'))
        talk.hear(result(3, { stopReason: 'end_turn' }))
        expect(talk.only('message.discarded')).toHaveLength(1)
        expect(talk.only('text.completed').map(({ text }) => text)).toEqual([again])
      }),
    )
  })

  const thought = (text: string, messageId: string) =>
    update('agent_thought_chunk', { content: { type: 'text', text }, messageId })

  test('a message with thinking that starts like the previous one replaces it, for any chunking', () => {
    const whole = fc.string({ minLength: 2, maxLength: 8 })
    fc.assert(
      fc.property(whole, whole, fc.nat(), fc.nat(), (plan, answer, at, till) => {
        const talk = new Talk().begin()
        const cut = at % plan.length
        const half = answer.slice(0, 1 + (till % (answer.length - 1)))
        talk.hear(thought(plan, 'a'), chunk(half, 'a'))
        talk.hear(thought(plan.slice(0, cut), 'b'), thought(plan.slice(cut), 'b'))
        talk.hear(chunk(answer.slice(0, 1), 'b'), chunk(answer.slice(1), 'b'))
        talk.hear(result(3, { stopReason: 'end_turn' }))
        expect(talk.only('thinking.completed').map(({ text }) => text)).toEqual([plan])
        expect(talk.only('message.discarded')).toHaveLength(1)
        expect(talk.only('text.completed').map(({ text }) => text)).toEqual([answer])
      }),
    )
  })

  test.each([
    ['thinks of something else', ['Look it up.', 'One'], ['Plan it.', 'Look it up.'], ['One two.', 'One']],
    ['thinks further', ['Plan it. Again.', 'One'], ['Plan it.', 'Plan it. Again.'], ['One two.', 'One']],
    ['says something else', ['Plan it.', 'One more.'], ['Plan it.', 'Plan it.'], ['One two.', 'One more.']],
    ['is cut short', ['Plan', 'One'], ['Plan it.', 'Plan'], ['One two.', 'One']],
  ])(
    'a message that %s leaves the one before it whole',
    (_what, [plan = '', answer = ''], plans, answers) => {
      const talk = new Talk().begin()
      talk.hear(thought('Plan it.', 'a'), chunk('One two.', 'a'), thought(plan, 'b'), chunk(answer, 'b'))
      talk.hear(result(3, { stopReason: 'end_turn' }))
      expect(talk.only('message.discarded')).toEqual([])
      expect(talk.only('thinking.completed').map(({ text }) => text)).toEqual(plans)
      expect(talk.only('text.completed').map(({ text }) => text)).toEqual(answers)
    },
  )

  test('a message that goes another way leaves the one before it whole', () => {
    const talk = new Talk().begin()
    const emitted = talk.hear(chunk('One two.', 'a'), chunk('One', 'b'), chunk(' more.', 'b'))
    expect(eventsOf(emitted, 'message.discarded')).toEqual([])
    talk.hear(result(3, { stopReason: 'end_turn' }))
    expect(talk.only('text.completed').map(({ text }) => text)).toEqual(['One two.', 'One more.'])
  })

  test('equal messages with a call between them are two messages', () => {
    const talk = new Talk().begin()
    const call = update('tool_call', {
      toolCallId: 't',
      title: 'ls',
      kind: 'execute',
      rawInput: { command: 'ls' },
    })
    talk.hear(chunk('Done.', 'a'), call, chunk('Done.', 'b'), result(3, { stopReason: 'end_turn' }))
    expect(talk.only('text.completed').map(({ text }) => text)).toEqual(['Done.', 'Done.'])
  })

  test('a repetition that is cut short shows both texts', () => {
    const talk = new Talk().begin()
    talk.hear(chunk('One two.', 'a'), chunk('One', 'b'))
    talk.exit({ signal: 'SIGKILL' })
    expect(talk.only('text.completed')).toMatchObject([{ text: 'One two.' }, { text: 'One', partial: true }])
  })

  test('an image in an answer is kept whole', () => {
    const talk = new Talk().begin()
    const content = { type: 'image', data: 'AA==', mimeType: 'image/png' }
    expect(talk.hear(update('agent_message_chunk', { content }))).toMatchObject([
      { type: 'native.unmapped', nativeType: 'agent_message_chunk/image' },
    ])
  })

  test('agent output between turns is not lost', () => {
    const talk = new Talk().begin()
    talk.hear(result(3, { stopReason: 'end_turn' }))
    expect(talk.hear(chunk('By the way.'))).toMatchObject([
      { type: 'notice.raised', code: 'late_frame', message: 'By the way.' },
    ])
  })
})

test('a plan starts the turn in a recording without our input', () => {
  const entries = [{ content: 'Look', status: 'pending', priority: 'high' }]
  const emitted = new Talk().hear(update('plan', { entries }))
  expect(emitted.map(({ type }) => type)).toEqual(['turn.started', 'plan.updated'])
})

test('a plan that is not a list is kept whole, and does not clear the list', () => {
  const plan = { type: 'markdown', content: '# First' }
  expect(new Talk().begin().hear(update('plan_update', { plan }))).toMatchObject([
    { type: 'native.unmapped', nativeType: 'plan_update/?' },
  ])
})

describe('tools', () => {
  test('a call that only a question announces is started by it, once', () => {
    const events = eventsIn('acp-gemini/tool_bash')
    const types = events.map(({ type }) => type)
    expect(types.indexOf('tool.started')).toBeLessThan(types.indexOf('request.opened'))
    expect(eventsOf(events, 'tool.started')).toMatchObject([{ name: 'run_shell_command', kind: 'execute' }])
  })

  test('a refused call that the agent never mentions again is denied by the person who refused it', () => {
    expect(eventsOf(eventsIn('acp-gemini/tool_bash_reject'), 'tool.completed')).toMatchObject([
      { status: 'denied', deniedBy: 'person', settled: true },
    ])
  })

  test('a call starts with its complete input, not with a draft', () => {
    expect(eventsOf(eventsIn('acp-opencode/tool_bash'), 'tool.started')).toMatchObject([
      { name: 'bash', input: { command: 'echo hello-from-shell; echo to-stderr 1>&2' } },
    ])
  })

  test('cumulative output becomes deltas', () => {
    const outputs = eventsOf(eventsIn('acp-opencode/tool_bash'), 'tool.progressed').map(
      ({ output }) => output,
    )
    expect(outputs).toEqual(['hello-from-shell\n', 'to-stderr\n'])
  })

  test.each([
    ['acp-codex2/tool_bash_fail', 3],
    ['acp-opencode/tool_bash_fail', 3],
    ['acp-copilot/tool_bash_fail', 3],
    ['acp-qwen/tool_bash_fail', 3],
  ])('%s: a command that failed is an error, for any status of the agent', (name, exitCode) => {
    expect(eventsOf(eventsIn(name), 'tool.completed')).toMatchObject([{ status: 'error', exitCode }])
  })

  test.each([
    ['acp-gemini/cancel_tool'],
    ['acp-claude/cancel_tool'],
    ['acp-opencode/cancel_tool'],
    ['acp-qwen/cancel_tool'],
    ['acp-copilot/cancel_tool'],
    ['acp-codex2/cancel_tool'],
  ])('%s: a call that a cancel stopped is cancelled', (name) => {
    expect(eventsOf(eventsIn(name), 'tool.completed').map(({ status }) => status)).toEqual(['cancelled'])
  })

  test.each([
    [
      'acp-claude/file_edit',
      [
        { change: 'created', after: 'alpha\nbeta\n' },
        { change: 'modified', before: 'alpha\nbeta\n' },
      ],
    ],
    [
      'acp-codex2/file_edit',
      [
        { change: 'created', after: 'alpha\nbeta\n' },
        { change: 'modified', after: 'alpha\ngamma\n' },
      ],
    ],
    ['acp-codex/file_edit', [{ change: 'created', after: 'alpha\nbeta\n' }]],
    ['acp-copilot/file_edit', [{ change: 'created', after: 'alpha\nbeta\n' }, { change: 'modified' }]],
    ['acp-opencode/file_edit', [{ change: 'created', after: 'alpha\nbeta\n' }, { change: 'modified' }]],
    [
      'acp-qwen/file_edit',
      [
        { change: 'created', after: 'alpha\nbeta\n' },
        { change: 'modified', after: 'alpha\ngamma\n' },
      ],
    ],
    ['acp-gemini/fs_empty', [{ change: 'created', after: 'alpha\nbeta\n' }]],
    ['acp-claude/v2_write_only', [{ change: 'created' }]],
    ['acp-gemini/file_edit', []],
  ])('%s: files change when the call has succeeded', (name, changes) => {
    const changed = eventsOf(eventsIn(name), 'file.changed')
    expect(changed).toMatchObject(changes.map((change) => ({ path: '/workspace/hello.txt', ...change })))
    for (const { change, diff, after } of changed)
      if (change === 'modified') expect(diff ?? after).toContain('gamma')
  })

  test('output ends where the command ended, without the line that the program adds', () => {
    const ends = eventsOf(eventsIn('acp-copilot/usage_twice'), 'tool.completed')
    expect(ends).toMatchObject([
      {
        output: 'counted\n',
        exitCode: 0,
        data: { content: 'counted\n<shellId: 0 completed with exit code 0>' },
      },
      {
        output: 'counted\n',
        exitCode: 0,
        data: { content: 'counted\n<shellId: 1 completed with exit code 0>' },
      },
    ])
  })

  test('a line that only looks like the one of the program stays', () => {
    const talk = new Talk('copilot').begin()
    const content = 'a\n<shellId: 0 completed with exit code 0>'
    const exit = { type: 'shell_exit', shellId: '1', exitCode: 0 }
    talk.hear(
      update('tool_call', { toolCallId: 't1', title: 'x', kind: 'execute' }),
      update('tool_call_update', {
        toolCallId: 't1',
        status: 'completed',
        rawOutput: { content, contents: [exit] },
      }),
    )
    expect(talk.only('tool.completed')[0]?.output).toBe(content)
  })

  test.each([
    [
      'a shell',
      'copilot',
      { rawOutput: { content: 'a', contents: [{ type: 'shell_exit', outputTruncated: true }] } },
    ],
    [
      'a tool result',
      'claude-agent-acp',
      { _meta: { claudeCode: { toolResponse: { persistedOutputPath: '/a' } } } },
    ],
  ])('output that the agent saved to a file is marked as truncated, by %s', (_which, agent, end) => {
    const talk = new Talk(agent).begin()
    talk.hear(
      update('tool_call', { toolCallId: 't1', title: 'x', kind: 'execute' }),
      update('tool_call_update', { toolCallId: 't1', status: 'completed', ...end }),
    )
    expect(talk.only('tool.completed')[0]).toMatchObject({ truncated: true })
  })

  test('replaced lines are reported as such, not as the whole file', () => {
    const talk = new Talk().begin()
    const content = [{ type: 'diff', path: '/a', oldText: 'one\ntwo', newText: 'three' }]
    const call = { toolCallId: 't', title: 'Edit', kind: 'edit', status: 'completed', content }
    const [change] = eventsOf(talk.hear(update('tool_call', call)), 'file.changed')
    expect(change).toEqual({
      type: 'file.changed',
      path: '/a',
      change: 'modified',
      diff: '@@ @@\n-one\n-two\n+three\n',
      toolId: 't',
    })
  })

  test.each([
    [{ type: 'resource', resource: { uri: 'file:///a', text: 'all of it' } }, 'all of it'],
    [{ type: 'resource', resource: { uri: 'file:///a', blob: 'AA==' } }, 'file:///a'],
    [{ type: 'resource_link', uri: 'file:///b', name: 'b' }, 'file:///b'],
    [{ type: 'image', data: 'AA==', mimeType: 'image/png' }, '[image]'],
  ])('%j among the output of a call', (content, output) => {
    const talk = new Talk().begin()
    const call = { toolCallId: 't', title: 'Read', kind: 'read', status: 'completed' }
    talk.hear(update('tool_call', { ...call, content: [{ type: 'content', content }] }))
    expect(talk.only('tool.completed')).toMatchObject([{ output }])
  })

  test('a call that the agent calls cancelled is over', () => {
    const talk = new Talk().begin()
    const call = { toolCallId: 't', title: 'ls', kind: 'execute', status: 'in_progress' }
    talk.hear(update('tool_call', call), update('tool_call_update', { toolCallId: 't', status: 'cancelled' }))
    expect(talk.only('tool.completed')).toMatchObject([{ status: 'cancelled' }])
  })

  test('a field that is null in an update has not changed', () => {
    const talk = new Talk().begin()
    const call = { toolCallId: 't', title: 'ls', kind: 'execute', status: 'pending' }
    talk.hear(update('tool_call', { ...call, rawInput: { command: 'ls' } }))
    const none = { title: null, kind: null, status: null, rawInput: null, content: null, locations: null }
    expect(talk.hear(update('tool_call_update', { toolCallId: 't', ...none }))).toEqual([])
  })

  test('an id that is used again is a new call', () => {
    const talk = new Talk().begin()
    const call = {
      toolCallId: 't',
      title: 'ls',
      kind: 'execute',
      rawInput: { command: 'ls' },
      status: 'completed',
    }
    talk.hear(update('tool_call', call), update('tool_call', call))
    expect(talk.only('tool.completed').map(({ toolId }) => toolId)).toEqual(['t', 't~2'])
  })

  test('tools of servers and of sub-agents are recognised by name', () => {
    expect(eventsOf(eventsIn('acp-opencode/mcp'), 'tool.started')).toMatchObject([{ kind: 'mcp' }])
    expect(eventsOf(eventsIn('acp-gemini/mcp'), 'tool.started')).toMatchObject([{ kind: 'mcp' }])
    expect(eventsOf(eventsIn('acp-opencode/subagent'), 'subagent.completed')).toMatchObject([
      { status: 'success' },
    ])
    const [agent, bash] = eventsOf(eventsIn('acp-claude/subagent'), 'tool.started')
    expect(agent).toMatchObject({ name: 'Agent', kind: 'task' })
    expect(bash).toMatchObject({ name: 'Bash', parent: agent?.toolId })
  })

  test('a background sub-agent ends when reported, and the agent continues by itself', () => {
    const events = eventsIn('acp-qwen/subagent')
    expect(eventsOf(events, 'subagent.completed')).toMatchObject([{ status: 'success' }])
    expect(eventsOf(events, 'turn.started')).toMatchObject([{ origin: 'prompt' }, { origin: 'agent' }])
    expect(eventsOf(events, 'turn.completed').map(({ outcome }) => outcome)).toEqual([
      'completed',
      'completed',
    ])
  })

  test('a policy of the agent that denies a call makes the turn denied', () => {
    const events = eventsIn('acp-gemini/subagent')
    expect(eventsOf(events, 'tool.completed')).toMatchObject([{ status: 'denied', deniedBy: 'policy' }])
    expect(eventsOf(events, 'turn.completed')).toMatchObject([{ outcome: 'denied' }])
  })
})
