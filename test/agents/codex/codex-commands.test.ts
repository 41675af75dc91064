import { describe, expect, test } from 'vitest'
import { inTurn, item, notification, opened, turnCompleted, wire, written } from './codex-wire.ts'

const input = (text: string) => [{ type: 'text', text, text_elements: [] }]

describe('opening', () => {
  test('initialize goes first, and the thread is opened when it is answered', () => {
    const codec = wire('live', { options: { model: 'gpt-5.5' } })
    expect(written(codec.command({ type: 'open' }))).toMatchObject([
      { id: 'c1', method: 'initialize', params: { clientInfo: { name: 'mainstem' } } },
    ])
    expect(written(codec.hear({ id: 'c1', result: {} }))).toEqual([
      { method: 'initialized' },
      {
        id: 'c2',
        method: 'thread/start',
        params: { cwd: '/project', model: 'gpt-5.5', approvalPolicy: 'untrusted' },
      },
    ])
  })

  test('a thread is resumed without its history', () => {
    const codec = wire('live', { resume: 'thread-0', policy: { approval: 'auto-all', sandbox: 'read-only' } })
    codec.command({ type: 'open', resume: 'thread-0' })
    expect(written(codec.hear({ id: 'c1', result: {} })).at(-1)).toEqual({
      id: 'c2',
      method: 'thread/resume',
      params: {
        threadId: 'thread-0',
        cwd: '/project',
        approvalPolicy: 'never',
        sandbox: 'read-only',
        excludeTurns: true,
      },
    })
  })

  test('a copy of a thread is made by a call of its own', () => {
    const codec = wire('live', { resume: 'thread-0', fork: true })
    codec.command({ type: 'open', resume: 'thread-0' })
    expect(written(codec.hear({ id: 'c1', result: {} })).at(-1)).toMatchObject({
      method: 'thread/fork',
      params: { threadId: 'thread-0' },
    })
  })

  test('everything that a thread is opened with goes in by stdin', () => {
    const codec = wire('live', {
      policy: { approval: 'ask', sandbox: 'workspace-write', network: true, writableRoots: ['/a'] },
      options: {
        systemPrompt: { append: 'be kind', replace: 'you are a poet' },
        extraDirectories: ['/b'],
        mcpServers: {
          demo: { command: 'node', args: ['x'], env: { KEY: 'secret' }, includeTools: ['echo'] },
          far: { url: 'http://127.0.0.1:1/', headers: { Authorization: 'secret' }, excludeTools: ['rm'] },
        },
      },
    })
    codec.command({ type: 'open' })
    expect(written(codec.hear({ id: 'c1', result: {} })).at(-1)).toMatchObject({
      params: {
        sandbox: 'workspace-write',
        developerInstructions: 'be kind',
        baseInstructions: 'you are a poet',
        config: {
          sandbox_workspace_write: { network_access: true, writable_roots: ['/a', '/b'] },
          mcp_servers: {
            demo: { command: 'node', args: ['x'], env: { KEY: 'secret' }, enabled_tools: ['echo'] },
            far: {
              url: 'http://127.0.0.1:1/',
              http_headers: { Authorization: 'secret' },
              disabled_tools: ['rm'],
            },
          },
        },
      },
    })
  })

  test('a prompt is buffered until its thread is open', () => {
    const codec = wire('live')
    codec.command({ type: 'open' })
    expect(written(codec.command({ type: 'prompt', text: 'hello' }))).toEqual([])
    codec.hear({ id: 'c1', result: {} })
    const step = codec.hear({ id: 'c2', result: { thread: { id: 'thread-1' } } })
    expect(written(step)).toEqual([
      { id: 'c3', method: 'turn/start', params: { threadId: 'thread-1', input: input('hello') } },
    ])
  })

  test.each(['no rollout found for thread id x', 'invalid thread id: invalid character'])(
    'a thread that does not open fails the buffered prompt and rejects the next: %s',
    (message) => {
      const codec = wire('live', { resume: 'thread-0' })
      codec.command({ type: 'open', resume: 'thread-0' })
      codec.command({ type: 'prompt', text: 'hello' })
      codec.hear({ id: 'c1', result: {} })
      const { emitted } = codec.hear({
        id: 'c2',
        error: { code: -32600, message },
      })
      expect(emitted).toMatchObject([
        { type: 'turn.verdict', evidence: 'error', error: { code: 'session_not_found' } },
      ])
      expect(codec.command({ type: 'prompt', text: 'again' }).refused?.code).toBe('session_not_found')
    },
  )

  test('a prompt that was interrupted while it waited is never sent', () => {
    const codec = wire('live')
    codec.command({ type: 'open' })
    codec.command({ type: 'prompt', text: 'hello' })
    expect(codec.command({ type: 'interrupt' }).emitted).toMatchObject([
      { type: 'turn.verdict', evidence: 'aborted' },
    ])
    codec.hear({ id: 'c1', result: {} })
    expect(written(codec.hear({ id: 'c2', result: { thread: { id: 'thread-1' } } }))).toEqual([])
  })
})

describe('prompts', () => {
  test('images, effort and the wanted form of the answer go with the turn', () => {
    const outputSchema = { type: 'object' }
    const codec = opened({ options: { effort: 'high', outputSchema } })
    const images = [{ mimeType: 'image/png', data: 'QUJD' }]
    expect(written(codec.command({ type: 'prompt', text: 'look', images }))).toEqual([
      {
        id: 'c3',
        method: 'turn/start',
        params: {
          threadId: 'thread-1',
          input: [{ type: 'image', url: 'data:image/png;base64,QUJD' }, ...input('look')],
          effort: 'high',
          outputSchema,
        },
      },
    ])
  })

  test('a second prompt while a turn is open is refused: codex would take it for steering', () => {
    expect(inTurn().command({ type: 'prompt', text: 'more' }).refused?.code).toBe('conflict')
  })

  test('a prompt that codex refuses ends its turn', () => {
    const codec = opened()
    codec.command({ type: 'prompt', text: 'go' })
    const { emitted } = codec.hear({ id: 'c3', error: { code: -32600, message: 'thread not found' } })
    expect(emitted).toMatchObject([{ type: 'turn.verdict', evidence: 'error' }])
  })

  test('steering names the turn that it expects', () => {
    expect(written(inTurn().command({ type: 'steer', text: 'shorter' }))).toEqual([
      {
        id: 'c4',
        method: 'turn/steer',
        params: { threadId: 'thread-1', expectedTurnId: 'turn-1', input: input('shorter') },
      },
    ])
    expect(opened().command({ type: 'steer', text: 'shorter' }).refused?.code).toBe('conflict')
  })

  test('steering that codex rejects is reported and ends nothing', () => {
    const codec = inTurn()
    codec.command({ type: 'steer', text: 'shorter' })
    expect(
      codec.hear({ id: 'c4', error: { code: -32600, message: 'no active turn' } }).emitted,
    ).toMatchObject([{ type: 'notice.raised', code: 'protocol_refused', data: { method: 'turn/steer' } }])
  })

  test('a new model and a new policy go with the next turn, once', () => {
    const codec = opened()
    expect(codec.command({ type: 'set_model', model: 'gpt-6' }).refused).toBeUndefined()
    codec.command({
      type: 'set_policy',
      policy: { approval: 'auto-edit', sandbox: 'workspace-write', writableRoots: ['/a'] },
    })
    expect(written(codec.command({ type: 'prompt', text: 'go' }))[0]).toMatchObject({
      params: {
        model: 'gpt-6',
        approvalPolicy: 'on-request',
        sandboxPolicy: { type: 'workspaceWrite', writableRoots: ['/a'], networkAccess: false },
      },
    })
    const { emitted } = codec.hear({ id: 'c3', result: { turn: { id: 'turn-1' } } })
    expect(emitted).toEqual([{ type: 'session.updated', model: 'gpt-6' }])
    codec.hear(turnCompleted())
    const [next] = written(codec.command({ type: 'prompt', text: 'go on' }))
    expect(next).not.toHaveProperty('params.model')
    expect(next).not.toHaveProperty('params.approvalPolicy')
  })

  test('a mode goes with the next turn, once, and with the model that counts', () => {
    const codec = opened()
    expect(codec.command({ type: 'set_policy', mode: 'plan' }).refused).toBeUndefined()
    const settings = { model: 'gpt-5.5', reasoning_effort: null, developer_instructions: null }
    expect(written(codec.command({ type: 'prompt', text: 'go' }))[0]).toMatchObject({
      params: { collaborationMode: { mode: 'plan', settings } },
    })
    codec.hear({ id: 'c3', result: { turn: { id: 'turn-1' } } })
    codec.hear(turnCompleted())
    codec.command({ type: 'set_model', model: 'gpt-6' })
    codec.command({ type: 'set_policy', mode: 'default' })
    const [next] = written(codec.command({ type: 'prompt', text: 'go on' }))
    expect(next).toMatchObject({
      params: { collaborationMode: { mode: 'default', settings: { model: 'gpt-6' } } },
    })
  })

  test('settings of a refused turn apply to the next one, unless they changed again', () => {
    const codec = opened()
    codec.command({ type: 'set_model', model: 'gpt-6' })
    codec.command({ type: 'set_policy', mode: 'plan' })
    codec.command({ type: 'set_policy', policy: { approval: 'ask', sandbox: 'read-only' } })
    const [refused] = written(codec.command({ type: 'prompt', text: 'go' }))
    codec.command({ type: 'set_model', model: 'gpt-7' })
    codec.hear({ id: 'c3', error: { code: -32001, message: 'Server overloaded; retry later.' } })
    expect(refused).toMatchObject({ params: { model: 'gpt-6', sandboxPolicy: { type: 'readOnly' } } })
    expect(written(codec.command({ type: 'prompt', text: 'go' }))[0]).toMatchObject({
      params: {
        model: 'gpt-7',
        sandboxPolicy: { type: 'readOnly' },
        collaborationMode: { mode: 'plan', settings: { model: 'gpt-7' } },
      },
    })
  })

  test('a policy that cannot be enforced and an unknown mode are rejected; "none" needs another process', () => {
    const codec = opened()
    codec.command({ type: 'set_policy', policy: { approval: 'auto-all', sandbox: 'full-access' } })
    codec.command({ type: 'prompt', text: 'go' })
    const refusals = [
      codec.command({ type: 'set_policy', policy: { approval: 'auto-edit', sandbox: 'read-only' } }),
      codec.command({ type: 'set_policy', mode: 'yolo' }),
      codec.command({ type: 'set_policy' }),
    ]
    expect(refusals.map(({ refused }) => refused?.code)).toEqual([
      'unsupported_option',
      'unsupported_option',
      'invalid_request',
    ])
    const none = { approval: 'ask', sandbox: 'none' } as const
    expect(codec.command({ type: 'set_policy', policy: none }).applies).toBe('next_process')
    expect(codec.command({ type: 'set_model', model: null }).applies).toBe('next_process')
  })

  test('closing ends the input', () => {
    expect(written(opened().command({ type: 'close' }))).toEqual([{ kind: 'end' }])
  })
})

describe('interrupting', () => {
  test('names the turn', () => {
    expect(written(inTurn().command({ type: 'interrupt' }))).toEqual([
      { id: 'c4', method: 'turn/interrupt', params: { threadId: 'thread-1', turnId: 'turn-1' } },
    ])
    expect(written(opened().command({ type: 'interrupt' }))).toEqual([])
  })

  test('waits until the turn has started: before that codex rejects it', () => {
    const codec = opened()
    codec.command({ type: 'prompt', text: 'go' })
    expect(written(codec.command({ type: 'interrupt' }))).toEqual([])
    expect(written(codec.hear({ id: 'c3', result: { turn: { id: 'turn-1' } } }))).toEqual([])
    expect(written(codec.hear(notification('turn/started', { turn: { id: 'turn-1' } })))).toEqual([
      { id: 'c4', method: 'turn/interrupt', params: { threadId: 'thread-1', turnId: 'turn-1' } },
    ])
  })

  test('ends the shells of the turn, which codex leaves running, and no others', () => {
    const codec = inTurn()
    codec.hear(item('started', { type: 'commandExecution', id: 'call-1', command: 'sleep 300' }))
    codec.command({ type: 'interrupt' })
    const step = codec.hear(turnCompleted('interrupted'))
    expect(step.emitted).toMatchObject([
      { type: 'tool.completed', status: 'cancelled', settled: true },
      { type: 'turn.verdict', evidence: 'aborted' },
    ])
    const threadId = 'thread-1'
    expect(written(step)).toEqual([
      { id: 'c5', method: 'thread/backgroundTerminals/list', params: { threadId } },
    ])
    const data = [
      { itemId: 'call-0', processId: '10' },
      { itemId: 'call-1', processId: '11' },
    ]
    expect(written(codec.hear({ id: 'c5', result: { data } }))).toEqual([
      { id: 'c6', method: 'thread/backgroundTerminals/terminate', params: { threadId, processId: '11' } },
    ])
  })

  test('that came too late is reported', () => {
    const codec = inTurn()
    codec.command({ type: 'interrupt' })
    const error = { code: -32600, message: 'no active turn to interrupt' }
    expect(codec.hear({ id: 'c4', error }).emitted).toMatchObject([{ code: 'interrupt_refused' }])
  })
})

describe('one shot', () => {
  test('the prompt goes in by stdin, which then ends', () => {
    const { writes } = wire('oneshot').command({ type: 'prompt', text: '-p hello' })
    expect(writes).toEqual([{ kind: 'text', text: '-p hello' }, { kind: 'end' }])
  })

  test('a command that needs a conversation is refused', () => {
    const codec = wire('oneshot')
    const commands = [
      codec.command({ type: 'steer', text: 'x' }),
      codec.command({ type: 'answer', requestId: 'x', decision: 'allow' }),
      codec.command({ type: 'set_model', model: 'x' }),
      codec.command({ type: 'set_policy', mode: 'x' }),
      codec.command({ type: 'prompt', text: 'x', images: [{ mimeType: 'image/png', data: '' }] }),
    ]
    for (const { refused } of commands) expect(refused?.code).toBe('unsupported_option')
  })
})

describe('commands of its own terminal', () => {
  test('a compaction is a call, and its turn ends like any other', () => {
    const codec = opened()
    expect(written(codec.command({ type: 'prompt', text: '/compact' }))).toEqual([
      { id: expect.any(String), method: 'thread/compact/start', params: { threadId: 'thread-1' } },
    ])
    codec.hear(notification('turn/started', { threadId: 'thread-1', turn: { id: 'turn-1' } }))
    const ended = codec.hear(turnCompleted()).emitted
    expect(ended).toContainEqual(expect.objectContaining({ type: 'turn.verdict', evidence: 'success' }))
  })

  test('a review starts under another id than it ends with', () => {
    const codec = opened()
    const [call] = written(codec.command({ type: 'prompt', text: ' /review ' }))
    expect(call).toMatchObject({
      method: 'review/start',
      params: { threadId: 'thread-1', target: { type: 'uncommittedChanges' }, delivery: 'inline' },
    })
    const { id } = call as { id: string }
    codec.hear({ id, result: { turn: { id: 'turn-1' }, reviewThreadId: 'thread-1' } })
    codec.hear(notification('turn/started', { threadId: 'thread-1', turn: { id: 'turn-2' } }))
    const ended = codec.hear(turnCompleted()).emitted
    expect(ended).toContainEqual(expect.objectContaining({ type: 'turn.verdict', evidence: 'success' }))
  })

  test('a prompt that only mentions a command is a prompt', () => {
    const [call] = written(opened().command({ type: 'prompt', text: 'What does /compact do?' }))
    expect(call).toMatchObject({ method: 'turn/start' })
  })
})
